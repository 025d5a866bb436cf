-- Takes a backend out for all gateways, or puts it back.
-- KEYS: the drained backends; the field "" counts the changes. ARGV: name, what is told ("": back).
-- Returns the new version.
if ARGV[2] == '' then
  redis.call('HDEL', KEYS[1], ARGV[1])
else
  redis.call('HSET', KEYS[1], ARGV[1], ARGV[2])
end
return redis.call('HINCRBY', KEYS[1], '', 1)
