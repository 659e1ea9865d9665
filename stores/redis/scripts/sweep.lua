-- Drops from the indexes what expired.
local ids = redis.call('ZRANGEBYSCORE', EXPIRING, '-inf', text(MILLIS), 'LIMIT', 0, 100)
local gone = {}
for _, id in ipairs(ids) do
  local size, rest = string.match(id, '^(%d+):(.*)$')
  size = tonumber(size or '0')
  local owner, run = string.sub(rest or '', 1, size), string.sub(rest or '', size + 2)
  local key = P .. ':run:' .. id
  local r = parse(redis.call('HGET', INDEX, id))
  inspect(owner, r)
  gone[#gone + 1] = {id = id, owner = owner, run = run, r = r, left = redis.call('PTTL', key)}
end
redis.call('HLEN', LEASES)
if #gone == 0 then
  return {'ok'}
end

begin(true)
for _, g in ipairs(gone) do
  if g.left == -2 then
    forget(g.id, g.owner, g.run, g.r)
  elseif g.r and g.left > 0 then -- somebody let it live longer
    g.r.expires = text(MILLIS + g.left)
    index(g.id, g.owner, g.run, g.r, g.r)
    redis.call('ZADD', EXPIRING, g.r.expires, g.id)
  elseif g.r and g.left == -1 then
    g.r.expires = '0'
    index(g.id, g.owner, g.run, g.r, g.r)
    redis.call('ZREM', EXPIRING, g.id)
  end
end
return told()
