-- Tells the other gateways how this one is, and asks how they are.
-- KEYS: the bulletins by gateway, the drained backends, the published routing file, the stream of
-- prompts that were sent where (one hash slot).
-- ARGV: owner, how long a bulletin counts (ms), the bulletin, the newest entry of the stream that is
-- known ("" for none), prompts to add ("" for none).
-- Returns the version of the drains, that of the published file, the newest entry of the stream, how
-- many new entries others have written, those, then name and bulletin of each other gateway. A bulletin has the time at which it ends before it, and a colon.
local clock = redis.call('TIME')
local now = clock[1] * 1000 + math.floor(clock[2] / 1000)
redis.call('HSET', KEYS[1], ARGV[1], string.format('%.0f', now + ARGV[2]) .. ':' .. ARGV[3])
redis.call('PEXPIRE', KEYS[1], ARGV[2] * 10)
local told = {
  redis.call('HGET', KEYS[2], '') or '',
  redis.call('HGET', KEYS[3], 'version') or '',
}
if ARGV[5] ~= '' then
  redis.call('XADD', KEYS[4], 'MAXLEN', '~', 200, '*', 'by', ARGV[1], 'prompts', ARGV[5])
  redis.call('PEXPIRE', KEYS[4], 60000)
end
local newest, fresh = ARGV[4], {}
if newest == '' then
  local last = redis.call('XREVRANGE', KEYS[4], '+', '-', 'COUNT', 1)
  newest = last[1] and last[1][1] or '0-0'
else
  for _, entry in ipairs(redis.call('XRANGE', KEYS[4], '(' .. newest, '+', 'COUNT', 100)) do
    newest = entry[1]
    if entry[2][2] ~= ARGV[1] then
      fresh[#fresh + 1] = entry[2][4]
    end
  end
end
told[3], told[4] = newest, #fresh
for _, prompts in ipairs(fresh) do
  told[#told + 1] = prompts
end
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
