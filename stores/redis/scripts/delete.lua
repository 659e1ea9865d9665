local id, owner, run = arg(), arg(), arg()
if redis.call('EXISTS', RUN) == 0 then
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
