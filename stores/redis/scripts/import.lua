local id, owner, run, ttl = arg(), arg(), arg(), tonumber(arg())
local c = {step = arg(), segment = arg(), base = arg(), status = arg(), incarnation = arg()}
local r = {order = arg(), flow = arg(), status = c.status, open = '0'}
local head = arg()
local steps, graphs = {}, {}
for i = 1, tonumber(arg()) do
  steps[i] = {step = arg(), row = arg(), payload = arg()}
end
for i = 1, tonumber(arg()) do
  graphs[i] = {digest = arg(), graph = arg()}
end
local calls, events = readCalls(), readEvents()

if redis.call('EXISTS', RUN) == 1 then
  return {'conflict'}
end
local last, why = newest(id)
if why then
  return {why}
end
local old = parse(redis.call('HGET', INDEX, id)) -- of a run that has expired
inspect(owner, old, r)
redis.call('HLEN', GRAPHS)

begin()
for _, s in ipairs(steps) do
  redis.call('HSET', RUN, 's' .. s.step, s.row, 'p' .. s.step, s.payload)
end
redis.call('HSET', RUN, 'head', head,
  'step', c.step, 'segment', c.segment, 'base', c.base, 'status', c.status, 'incarnation', c.incarnation)
addLog(calls, events)
local inDoubt = open(c.status, c.base)
redis.call('HSET', RUN, 'open', inDoubt)
r.open = flag(inDoubt)
lifetime(r, ttl)
index(id, owner, run, old, r)
expire(id, r)
for _, g in ipairs(graphs) do
  redis.call('HSETNX', GRAPHS, g.digest, g.graph)
end
return told()
