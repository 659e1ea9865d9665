local id, owner, run, ttl = arg(), arg(), arg(), tonumber(arg())
local incarnation, started = arg(), arg() == '1'
local calls, events = readCalls(), readEvents()
local c = calls[1]

local last, why = newest(id)
if why then
  return {why}
end
if not last or incarnation ~= last.incarnation or less(last.segment, c.segment)
  or started and (c.segment ~= last.segment or final(last)) then
  return refuse('conflict', last)
end
local number = taken(calls, events)
if number then
  return number
end
local old = parse(redis.call('HGET', INDEX, id))
inspect(owner, old)

begin()
addLog(calls, events)
local inDoubt = open(last.status, last.base)
redis.call('HSET', RUN, 'open', inDoubt)
if old then -- without its index record a run comes back into lists with its next save
  local r = {order = old.order, flow = old.flow, status = old.status, open = flag(inDoubt)}
  lifetime(r, ttl)
  index(id, owner, run, old, r)
  expire(id, r)
end
return told()
