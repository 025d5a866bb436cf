-- Tells the other gateways how this one is, and asks how they are.
-- KEYS: the bulletins by gateway, the drained backends, the published routing file (one hash slot).
-- ARGV: owner, how long a bulletin counts (ms), the bulletin.
-- Returns the version of the drains, that of the published file, then name and bulletin of each
-- other gateway. A bulletin has the time at which it ends before it, and a colon.
local clock = redis.call('TIME')
local now = clock[1] * 1000 + math.floor(clock[2] / 1000)
redis.call('HSET', KEYS[1], ARGV[1], string.format('%.0f', now + ARGV[2]) .. ':' .. ARGV[3])
redis.call('PEXPIRE', KEYS[1], ARGV[2] * 10)
local told = {
  redis.call('HGET', KEYS[2], '') or '',
  redis.call('HGET', KEYS[3], 'version') or '',
}
local all = redis.call('HGETALL', KEYS[1])
for at = 1, #all, 2 do
  local colon = string.find(all[at + 1], ':', 1, true)
  if tonumber(string.sub(all[at + 1], 1, colon - 1)) <= now then
    redis.call('HDEL', KEYS[1], all[at])
  elseif all[at] ~= ARGV[1] then
    told[#told + 1] = all[at]
    told[#told + 1] = string.sub(all[at + 1], colon + 1)
  end
end
return told
