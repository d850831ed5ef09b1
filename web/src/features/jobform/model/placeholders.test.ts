import { describe, expect, it } from 'vitest'
import { filled, offered, type Sample } from './placeholders'

const sample: Sample = {
  time: '2026-03-31T18:00:00.000Z', zone: 'Asia/Shanghai', jobName: 'export', group: '', owner: 'ann', shardTotal: 3, params: { day: 'today', empty: '' },
}

describe('a text with placeholders', () => {
  it.each([
    ['${scheduledTime}', '2026-03-31T18:00:00.000Z'],
    ['${scheduledTime:yyyy-MM-dd}', '2026-04-01'],
    ['${scheduledTime-1d:yyyyMMdd}', '20260331'],
    ["${scheduledTime:yyyy'T'HH:mm:ssXXX}", '2026T02:00:00+08:00'],
    ['${scheduledTime-1M:yyyy-MM-dd}', '2026-03-01'],
    ['${scheduledTime-1d-1M:yyyy-MM-dd}', '2026-02-28'],
    ['${scheduledTime:DDD}', '091'],
    ["${scheduledTime:yyyy''MM}", "2026'04"],
    ['${scheduledTime:epochSec}', '1774980000'],
    ['${params.day}/${params.other:-x}/${params.none}', 'today/x/‹none›'],
    ['${params.empty:-y}', 'y'],
    ['Bearer ${secret.KEY}', 'Bearer •••'],
    ['${jobName} ${group} ${owner} ${attempt} ${shardIndex}/${shardTotal}', 'export default ann 1 0/3'],
    ['$${no} ${unknown} ${scheduledTime+oops}', '${no} ${unknown} ${scheduledTime+oops}'],
  ])('%s becomes %s', (text, out) => expect(filled(text, sample)).toBe(out))
})

describe('a shift by the calendar where clocks change', () => {
  // As TestShiftsGoByTheCalendarWhereClocksChange of the server.
  it.each([
    ['America/Havana', '2026-03-09T04:00:00.000Z', '${scheduledTime-1d:yyyy-MM-dd}', '2026-03-08'],
    ['America/Havana', '2026-03-09T04:00:00.000Z', '${scheduledTime-1d:yyyy-MM-dd HH:mm XXX}', '2026-03-08 01:00 -04:00'],
    ['America/Havana', '2026-03-09T04:00:00.000Z', '${scheduledTime-1d}', '2026-03-08T05:00:00.000Z'],
    ['America/Havana', '2026-03-09T04:00:00.000Z', '${scheduledTime-1d+1d:yyyy-MM-dd HH:mm}', '2026-03-09 00:00'],
    ['America/Havana', '2026-03-09T04:00:00.000Z', '${scheduledTime-1d+2h:yyyy-MM-dd HH:mm}', '2026-03-08 03:00'],
    ['America/Havana', '2026-04-08T04:00:00.000Z', '${scheduledTime-1M:yyyy-MM}', '2026-03'],
    ['Pacific/Apia', '2011-12-30T19:30:00.000Z', '${scheduledTime-1d:yyyy-MM-dd HH:mm XXX}', '2011-12-30 09:30 +14:00'],
    ['America/Havana', '2026-11-01T05:30:00.250Z', '${scheduledTime:HH:mm.SSS XXX}', '00:30.250 -05:00'],
    ['Europe/Berlin', '2026-03-29T00:30:00.000Z', '${scheduledTime+24h:yyyy-MM-dd HH:mm}', '2026-03-30 02:30'],
    ['Europe/Berlin', '2026-03-30T00:30:00.250Z', '${scheduledTime-1d:epochMs}', '1774746000000'],
  ])('%s %s: %s becomes %s', (zone, time, text, out) => expect(filled(text, { ...sample, zone, time })).toBe(out))
})

it('offers the declared parameters and the secrets', () => {
  expect(offered(['day', ''], ['KEY']).map((o) => o.text)).toEqual(expect.arrayContaining(['${params.day}', '${secret.KEY}', '${scheduledTime}']))
  expect(offered(['day', ''], []).filter((o) => o.name === 'param')).toHaveLength(1)
})
