-- Makes an empty store, unless there is one. ARGV: prefix, id, time.
local P, META = ARGV[1], KEYS[1]
local found = redis.call('HMGET', META, 'store', 'version')
if found[1] or found[2] or redis.call('EXISTS', META) == 1 then
  return {'ok', found[1] or '', found[2] or ''}
end
for _, key in ipairs({':index', ':owners', ':graphs'}) do
  if redis.call('EXISTS', P .. key) == 1 then
    return {'rows', P .. key}
  end
end
redis.call('HSET', META, 'format', 'flowtui', 'version', '1', 'store', ARGV[2], 'created', ARGV[3], 'changes', '0')
return {'ok', ARGV[2], '1'}
