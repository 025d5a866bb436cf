-- Renews one gateway's leases at one backend, and its right to read the engine's metrics for all.
-- KEYS: its leases, who reads its metrics (of one hash slot).
-- ARGV: owner, how long a lease lives (ms), how long the right to read lives (ms), then all its
-- leases. Returns how many places are taken in all, and whether this gateway reads the metrics.
local clock = redis.call('TIME')
local now = clock[1] * 1000 + math.floor(clock[2] / 1000)
redis.call('ZREMRANGEBYSCORE', KEYS[1], '-inf', now)
-- Whatever is missing is put back: after a restart the store knows nothing.
for at = 4, #ARGV do
  redis.call('ZADD', KEYS[1], now + ARGV[2], ARGV[at])
end
local held = redis.call('ZCARD', KEYS[1])
if held > 0 then
  redis.call('PEXPIRE', KEYS[1], ARGV[2] * 2)
end
if redis.call('SET', KEYS[2], ARGV[1], 'NX', 'PX', ARGV[3]) or
   redis.call('GET', KEYS[2]) == ARGV[1] then
  redis.call('PEXPIRE', KEYS[2], ARGV[3])
  return {held, 1}
end
return {held, 0}
