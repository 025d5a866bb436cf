-- Takes places at one backend, if there are so many.
-- KEYS: the leases of the backend, a sorted set of "owner/number/model", scored by when they end.
-- ARGV: how long a lease lives (ms), the most places (-1: any number), then the leases that are
-- wanted. Returns whether they are there now, and how many there were before.
local clock = redis.call('TIME')
local now = clock[1] * 1000 + math.floor(clock[2] / 1000)
redis.call('ZREMRANGEBYSCORE', KEYS[1], '-inf', now)
local held = redis.call('ZCARD', KEYS[1])
local limit = tonumber(ARGV[2])
-- With nobody there, one may always try: a limit can be wrong.
if limit >= 0 and held > 0 and held + #ARGV - 2 > limit then
  return {0, held}
end
for at = 3, #ARGV do
  redis.call('ZADD', KEYS[1], now + ARGV[1], ARGV[at])
end
redis.call('PEXPIRE', KEYS[1], ARGV[1] * 2)
return {1, held}
