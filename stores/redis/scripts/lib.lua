-- The start of every script. KEYS[1] is the store's meta hash and KEYS[2] the
-- hash of the run; all other keys are in the same slot.
--
-- A script that fails half way is not undone: each one reads and checks first,
-- then calls begin(), and writes when nothing can fail any more. Numbers are
-- compared as text, because Lua's own lose digits past 2^53.

local argument = 0
local function arg()
  argument = argument + 1
  return ARGV[argument]
end

local P, STORE = arg(), arg() -- "{prefix}" and the store's id
local META, RUN = KEYS[1], KEYS[2]
local INDEX, LEASES, EXPIRING = P .. ':index', P .. ':leases', P .. ':expiring'
local OWNERS, OPEN, GRAPHS = P .. ':owners', P .. ':open', P .. ':graphs'

local meta = redis.call('HMGET', META, 'store', 'version', 'changes')
if meta[1] ~= STORE or meta[2] ~= '1' then
  return {'gone', meta[1] or '', meta[2] or ''}
end

local function text(number)
  return string.format('%.0f', number)
end

local function less(a, b)
  return #a < #b or #a == #b and a < b
end

local time = redis.call('TIME')
local MICROS = time[1] * 1000000 + time[2]
local MILLIS = math.floor(MICROS / 1000)

-- An index record says in which sorted sets a run is, and until when.
local function parse(record)
  local order, status, open, expires, flow =
    string.match(record or '', '^(%x+) (%a+) ([01]) (%d+) (.*)$')
  return order and {order = order, status = status, open = open, expires = expires, flow = flow}
end

local function sets(owner, r)
  local keys = {
    P .. ':status:' .. r.status,
    P .. ':owner:' .. #owner .. ':' .. owner .. ':' .. r.status,
    P .. ':flow:' .. #r.flow .. ':' .. r.flow .. ':' .. r.status,
  }
  if r.open == '1' then
    keys[4] = OPEN
  end
  return keys
end

-- inspect fails if a key that is about to be written holds something else: one
-- of the sets that a run is in (old) and is going to be in (new), or another.
local function inspect(owner, old, new)
  local same = old and new and old.status == new.status and old.flow == new.flow
  for _, r in ipairs(same and {new} or {old or new, new}) do
    for _, key in ipairs(sets(owner, r)) do
      redis.call('ZCARD', key)
    end
  end
  redis.call('ZCARD', OPEN)
  redis.call('ZCARD', OWNERS)
  redis.call('ZCARD', EXPIRING)
end

-- begin is the first write of a script. A server that refuses writes says so
-- here, and so does one that is losing the slot, at the key that never exists; a
-- user who lacks one of the commands is told so. Nothing but the number of
-- changes has changed then. A script that makes room works in a full server,
-- too: once a script has written, a server refuses it nothing.
local function begin(makesRoom)
  if makesRoom then
    redis.call('DEL', P .. ':none')
  end
  redis.call('HSET', META, 'changes', text((tonumber(meta[3] or '') or 0) + 1))
  redis.call('HDEL', META, '')
  redis.call('ZADD', OWNERS, 'XX', 0, '')
  redis.call('ZREM', OWNERS, '')
  redis.call('PERSIST', META)
  redis.call('PEXPIREAT', P .. ':none', 1)
  redis.call('DEL', P .. ':none')
end

local function unindex(owner, run, r)
  for _, key in ipairs(r and sets(owner, r) or {}) do
    redis.call('ZREM', key, r.order .. owner .. '\0' .. run)
  end
end

-- index replaces the index record old of a run by r.
local function index(id, owner, run, old, r)
  unindex(owner, run, old)
  for _, key in ipairs(sets(owner, r)) do
    redis.call('ZADD', key, 0, r.order .. owner .. '\0' .. run)
  end
  redis.call('ZADD', OWNERS, 0, owner)
  redis.call('HSET', INDEX, id, table.concat({r.order, r.status, r.open, r.expires, r.flow}, ' '))
end

-- forget removes what the store keeps of a run outside of the run's own key.
local function forget(id, owner, run, r)
  unindex(owner, run, r)
  redis.call('HDEL', INDEX, id)
  redis.call('HDEL', LEASES, id)
  redis.call('ZREM', EXPIRING, id)
  local left = 0
  for _, status in ipairs({'running', 'paused', 'done', 'failed'}) do
    left = left + redis.call('ZCARD', P .. ':owner:' .. #owner .. ':' .. owner .. ':' .. status)
  end
  if left == 0 then
    redis.call('ZREM', OWNERS, owner)
  end
end

-- lifetime sets in r when the run expires: ttl milliseconds after this write,
-- never while it is paused.
local function lifetime(r, ttl)
  r.expires = '0'
  if ttl > 0 and r.status ~= 'paused' then
    r.expires = text(MILLIS + ttl)
  end
end

local function expire(id, r)
  if r.expires == '0' then
    redis.call('PERSIST', RUN)
    redis.call('ZREM', EXPIRING, id)
  else
    redis.call('PEXPIREAT', RUN, r.expires)
    redis.call('ZADD', EXPIRING, r.expires, id)
  end
end

local function expired(r)
  return r.expires ~= '0' and tonumber(r.expires) <= MILLIS
end

local statuses = {running = true, paused = true, done = true, failed = true}

-- newest returns where the run stands, or nil when there is no such run. The
-- second value says why it cannot be told.
local function newest(id)
  local v = redis.call('HMGET', RUN, 'step', 'segment', 'status', 'incarnation', 'base')
  local function number(i)
    return v[i] and string.find(v[i], '^%d+$')
  end
  if number(1) and number(2) and number(5) and statuses[v[3]] and v[4] then
    return {step = v[1], segment = v[2], status = v[3], incarnation = v[4], base = v[5]}
  end
  if redis.call('EXISTS', RUN) == 1 then
    return nil, 'bad'
  end
  local record = redis.call('HGET', INDEX, id)
  local r = parse(record)
  if record and not (r and expired(r)) then
    return nil, 'lost'
  end
end

local function final(last)
  return last.status == 'done' or last.status == 'failed'
end

local function refuse(why, last)
  if not last then
    return {why}
  end
  return {why, last.step, last.segment, last.status, last.incarnation}
end

-- told ends a script that changed something. A user without the permission to
-- publish still writes: watchers look at the number of changes as well.
local function told(...)
  redis.pcall('PUBLISH', P .. ':changes', '')
  return {'ok', ...}
end
