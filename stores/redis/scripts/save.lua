local id, owner, run, ttl = arg(), arg(), arg(), tonumber(arg())
local c = {
  step = arg(), before = arg(), segment = arg(), previous = arg(), base = arg(), status = arg(), incarnation = arg(),
}
local r = {order = arg(), flow = arg(), status = c.status, open = '0'}
local row, payload, head = arg(), arg(), arg()
local digest, hasGraph, graph = arg(), arg() == '1', arg()
local calls, events = readCalls(), readEvents()

local last, why = newest(id)
if why then
  return {why}
end
local follows
if last then
  follows = c.step ~= '0' and c.incarnation == last.incarnation and not final(last) and c.before == last.step
    and (c.segment == last.segment or c.previous == last.segment)
else
  follows = c.step == '0' and c.segment == '1'
end
if not follows then
  return refuse('conflict', last)
end
local number = taken(calls, events)
if number then
  return number
end
local old = parse(redis.call('HGET', INDEX, id))
inspect(owner, old, r)
local newGraph = hasGraph and redis.call('HEXISTS', GRAPHS, digest) == 0

begin()
redis.call('HSET', RUN,
  's' .. c.step, row, 'p' .. c.step, payload, 'head', head,
  'step', c.step, 'segment', c.segment, 'base', c.base, 'status', c.status, 'incarnation', c.incarnation)
addLog(calls, events)
local inDoubt = open(c.status, c.base)
redis.call('HSET', RUN, 'open', inDoubt)
r.open = flag(inDoubt)
lifetime(r, ttl)
index(id, owner, run, old, r)
expire(id, r)
if newGraph then
  redis.call('HSET', GRAPHS, digest, graph)
end
return told(text(redis.call('ZCOUNT', EXPIRING, '-inf', text(MILLIS))))
