-- Renews one gateway's leases at one backend and exchanges what the engine's metrics said.
-- KEYS: its leases, who reads its metrics, the figures that were read (all of one hash slot).
-- ARGV: owner, how long a lease lives (ms), how long the right to read metrics lives
-- (ms), the age of the figures given here (ms), the figures ("" for none), then all its leases.
-- Returns how many places are taken in all, whether this gateway reads the metrics, and, if it does not,
-- the figures and their age.
local clock = redis.call('TIME')
local now = clock[1] * 1000 + math.floor(clock[2] / 1000)
redis.call('ZREMRANGEBYSCORE', KEYS[1], '-inf', now)
-- Whatever is missing is put back: after a restart the store knows nothing.
for at = 6, #ARGV do
  redis.call('ZADD', KEYS[1], now + ARGV[2], ARGV[at])
end
local held = redis.call('ZCARD', KEYS[1])
if held > 0 then
  redis.call('PEXPIRE', KEYS[1], ARGV[2] * 2)
end
if redis.call('SET', KEYS[2], ARGV[1], 'NX', 'PX', ARGV[3]) or
   redis.call('GET', KEYS[2]) == ARGV[1] then
  redis.call('PEXPIRE', KEYS[2], ARGV[3])
  if ARGV[5] ~= '' then
    redis.call('HSET', KEYS[3], 'at', now - ARGV[4], 'figures', ARGV[5])
    redis.call('PEXPIRE', KEYS[3], 10000)
  end
  return {held, 1}
end
local known = redis.call('HMGET', KEYS[3], 'at', 'figures')
if known[1] then
  return {held, 0, now - known[1], known[2]}
end
return {held, 0}
