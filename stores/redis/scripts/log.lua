-- The part of scripts that write call records and events.

local function readCalls()
  local calls = {}
  for i = 1, tonumber(arg()) do
    calls[i] = {
      segment = arg(), n = arg(), step = arg(), ordinal = arg(), node = arg(), doubtful = arg(), row = arg(),
    }
  end
  return calls
end

local function readEvents()
  local events = {}
  for i = 1, tonumber(arg()) do
    events[i] = {n = arg(), row = arg()}
  end
  return events
end

-- taken finds a number that is there already, or twice.
local function taken(calls, events)
  local seen = {}
  for _, c in ipairs(calls) do
    local field = 'c' .. c.segment .. '.' .. c.n
    if seen[field] or redis.call('HEXISTS', RUN, field) == 1 then
      return {'taken', 'call', c.segment, c.n}
    end
    seen[field] = true
  end
  for _, e in ipairs(events) do
    local field = 'e' .. e.n
    if seen[field] or redis.call('HEXISTS', RUN, field) == 1 then
      return {'taken', 'event', e.n}
    end
    seen[field] = true
  end
end

local function count(field, by)
  local value = text((tonumber(redis.call('HGET', RUN, field) or '') or 0) + by)
  redis.call('HSET', RUN, field, value)
end

local function raise(field, value)
  local old = redis.call('HGET', RUN, field)
  if not old or less(old, value) then
    redis.call('HSET', RUN, field, value)
  end
end

-- addCall keeps, beside the record, which records a superstep has (k), the
-- newest record of each call (q) and how many calls may be in doubt (u).
local function addCall(c)
  redis.call('HSET', RUN, 'c' .. c.segment .. '.' .. c.n, c.row)
  local list = 'k' .. c.step
  redis.call('HSET', RUN, list, (redis.call('HGET', RUN, list) or '') .. c.segment .. '.' .. c.n .. ' ')
  count('calls', 1)
  raise('callstep', c.step)
  local call = 'q' .. c.step .. '.' .. c.ordinal .. '.' .. c.node
  local segment, n, doubtful = string.match(redis.call('HGET', RUN, call) or '', '^(%d+)%.(%d+) ([01])$')
  if segment and (less(c.segment, segment) or c.segment == segment and less(c.n, n)) then
    return -- a late record of an older worker decides nothing
  end
  redis.call('HSET', RUN, call, c.segment .. '.' .. c.n .. ' ' .. c.doubtful)
  count('u' .. c.step, tonumber(c.doubtful) - tonumber(doubtful or '0'))
end

local function addLog(calls, events)
  for _, c in ipairs(calls) do
    addCall(c)
  end
  for _, e in ipairs(events) do
    redis.call('HSET', RUN, 'e' .. e.n, e.row)
    count('events', 1)
    raise('event', e.n)
  end
end

-- open is the number of calls that may be in doubt, as lists show it.
local function open(status, base)
  if status ~= 'running' then
    return '0'
  end
  return redis.call('HGET', RUN, 'u' .. base) or '0'
end

local function flag(number)
  return number == '0' and '0' or '1'
end
