local id, owner, run, ttl = arg(), arg(), arg(), tonumber(arg())
local act, holder, duration = arg(), arg(), tonumber(arg()) -- microseconds

local expires, current = string.match(redis.call('HGET', LEASES, id) or '', '^(%d+) (.*)$')
if act == 'release' then
  if current == holder then
    begin(true)
    redis.call('HDEL', LEASES, id)
    return told()
  end
  return {'ok'}
end
if act == 'renew' and not current then
  return {'none'}
end
local held = current and current ~= holder
if held and (act == 'renew' or act == 'acquire' and MICROS < tonumber(expires)) then
  return {'held', current, expires}
end
local r = parse(redis.call('HGET', INDEX, id))
inspect(owner, r)
local alive = redis.call('EXISTS', RUN) == 1

begin()
expires = text(MICROS + duration)
redis.call('HSET', LEASES, id, expires .. ' ' .. holder)
if alive and r and ttl > 0 then -- a run does not expire under its worker
  lifetime(r, ttl)
  index(id, owner, run, r, r)
  expire(id, r)
end
return told(expires, text(MICROS))
