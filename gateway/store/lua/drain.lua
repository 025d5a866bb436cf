-- Takes a backend out for all gateways, or puts it back.
-- KEYS: the drained backends; the field "" is their version, the time of the last change, so that a
-- store which has lost everything never comes to a version that was there before.
-- ARGV: name, what is told ("": back). Returns the new version.
if ARGV[2] == '' then
  redis.call('HDEL', KEYS[1], ARGV[1])
else
  redis.call('HSET', KEYS[1], ARGV[1], ARGV[2])
end
local clock = redis.call('TIME')
local version = clock[1] .. '.' .. clock[2]
redis.call('HSET', KEYS[1], '', version)
return version
