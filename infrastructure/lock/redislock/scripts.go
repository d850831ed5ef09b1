package redislock

// Each lock is one text "token end holder": the token of the last lease, its
// end in milliseconds of Redis's clock (0: given back) and who has or had it.
// The text outlives the lease, so that tokens grow; see keep.

// prelude gives the scripts the time and the texts of locks. Numbers are
// written with a format, because Lua's own would round them.
const prelude = `
local t = redis.call('TIME')
local now, us = t[1] * 1000 + math.floor(t[2] / 1000), t[1] * 1000000 + t[2]
local function read(text)
	if not text then return 0, 0, '' end
	local token, ends, holder = string.match(text, '^(%d+) (%d+) (.*)$')
	return tonumber(token), tonumber(ends), holder
end
local function write(key, token, ends, holder, px)
	redis.call('SET', key, string.format('%.0f %.0f %s', token, ends, holder), 'PX', px)
end
`

// claimScript takes the locks KEYS that are free for ARGV[1], the holder, for
// ARGV[2] ms, and renews its own if ARGV[4] is 1. It returns the end of the
// leases, and for each lock its token, or 0 where it was refused.
const claimScript = prelude + `
local holder, ttl, keep, own = ARGV[1], tonumber(ARGV[2]), tonumber(ARGV[3]), ARGV[4] == '1'
local texts, out = redis.call('MGET', unpack(KEYS)), { now + ttl }
for i, key in ipairs(KEYS) do
	local token, ends, who = read(texts[i])
	local held = ends > now
	if held and not (own and who == holder) then
		out[i + 1] = 0
	else
		if not held then token = math.max(token + 1, us) end
		write(key, token, now + ttl, holder, ttl + keep)
		out[i + 1] = token
	end
end
return out`

// changeScript gives the lease of KEYS[1] with the holder ARGV[1] and the token
// ARGV[2] another end: ARGV[3] ms from now, or at once if that is 0. It returns
// 1, or 0 when the lease is over.
const changeScript = prelude + `
local holder, ttl, keep = ARGV[1], tonumber(ARGV[3]), tonumber(ARGV[4])
local token, ends, who = read(redis.call('GET', KEYS[1]))
if ends <= now or who ~= holder or token ~= tonumber(ARGV[2]) then return 0 end
if ttl == 0 then
	write(KEYS[1], token, 0, '', keep)
else
	write(KEYS[1], token, now + ttl, holder, ttl + keep)
end
return 1`

// releaseScript ends the leases that the holder ARGV[1] has of KEYS.
const releaseScript = prelude + `
local texts = redis.call('MGET', unpack(KEYS))
for i, key in ipairs(KEYS) do
	local token, ends, who = read(texts[i])
	if ends > now and who == ARGV[1] then write(key, token, 0, '', tonumber(ARGV[2])) end
end
return 1`
