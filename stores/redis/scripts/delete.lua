local id, owner, run, seen = arg(), arg(), arg(), arg() == '1'
if seen then -- only the run whose newest checkpoint is this one
  local incarnation, step = arg(), arg()
  local last, why = newest(id)
  if why then
    return {why}
  end
  if not last or last.incarnation ~= incarnation or last.step ~= step then
    return refuse('conflict', last)
  end
elseif redis.call('EXISTS', RUN) == 0 then
  local _, why = newest(id)
  if why ~= 'lost' then
    return {'none'}
  end
end
local old = parse(redis.call('HGET', INDEX, id))
inspect(owner, old)
redis.call('HLEN', LEASES)

begin(true)
redis.call('DEL', RUN)
forget(id, owner, run, old)
return told()
