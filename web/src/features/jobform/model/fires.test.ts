import { describe, expect, it } from 'vitest'
import { calendarOf, showFires } from './fires'
import { momentOf, offsetText, wallOf } from '@/shared/time/wall'

const NY = 'America/New_York'

describe('fires', () => {
  it('stand at their times in the zone of the job', () => {
    expect(showFires(['2026-11-22T18:00:00.000Z'], 'Asia/Shanghai')).toEqual([
      { time: '2026-11-22T18:00:00.000Z', day: '2026-11-23', clock: '02:00:00', offset: 480, mark: '', changedFrom: undefined },
    ])
  })

  it('show the change of the clocks, and the time that it moved', () => {
    // 02:30 in New York: on 8 March 2026 there is none, it fires at 03:00.
    const fires = showFires(['2026-03-07T07:30:00Z', '2026-03-08T07:00:00Z', '2026-03-09T06:30:00Z'], NY)
    expect(fires.map((f) => [f.clock, f.mark, f.changedFrom])).toEqual([
      ['02:30:00', '', undefined], ['03:00:00', 'moved', -300], ['02:30:00', '', undefined],
    ])
  })

  it('show what is skipped, within their span alone', () => {
    const whole = ['2026-03-07T07:30:00Z', '2026-03-08T07:00:00Z', '2026-03-09T06:30:00Z', '2026-03-10T06:30:00Z']
    const fires = showFires(['2026-03-07T07:30:00Z', '2026-03-09T06:30:00Z'], NY, whole)
    expect(fires.map((f) => f.mark)).toEqual(['', 'skipped', ''])
  })

  it('show the second of two times', () => {
    const fires = showFires(['2026-11-01T05:30:00Z', '2026-11-01T06:30:00Z'], NY)
    expect(fires.map((f) => [f.clock, f.mark, f.changedFrom])).toEqual([['01:30:00', '', undefined], ['01:30:00', 'again', -240]])
  })

  it('are none without times', () => expect(showFires([], 'UTC', ['2026-03-07T07:30:00Z'])).toEqual([]))

  it('lie in a calendar whose weeks begin on Monday', () => {
    const [month] = calendarOf(showFires(['2026-11-22T01:00:00Z', '2026-11-22T02:00:00Z', '2026-12-01T00:00:00Z'], 'UTC'), 1)
    expect(month?.month).toBe('2026-11')
    expect(month?.weeks).toHaveLength(6)
    expect(month?.weeks[0]?.slice(0, 6)).toEqual(Array.from({ length: 6 }, () => undefined))
    expect(month?.weeks[0]?.[6]).toEqual({ day: '2026-11-01', number: 1, fires: 0, marked: false })
    expect(month?.weeks[3]?.[6]).toEqual({ day: '2026-11-22', number: 22, fires: 2, marked: false })
  })
})

describe('a time on the wall', () => {
  it.each([
    ['2026-11-22T18:00', 'Asia/Shanghai', '2026-11-22T10:00:00.000Z'],
    ['2026-07-01T00:00:30', NY, '2026-07-01T04:00:30.000Z'],
    ['2026-11-01T01:30', NY, '2026-11-01T05:30:00.000Z'],
    ['2026-03-08T02:30', NY, '2026-03-08T07:00:00.000Z'],
    ['2026-03-08T00:00', 'America/Havana', '2026-03-08T05:00:00.000Z'],
    ['2026-11-01T00:00', 'America/Havana', '2026-11-01T04:00:00.000Z'],
    ['2011-12-30T09:00', 'Pacific/Apia', '2011-12-30T10:00:00.000Z'],
    ['2026-10-04T02:10', 'Australia/Lord_Howe', '2026-10-03T15:30:00.000Z'],
    ['', 'UTC', ''],
  ])('%s in %s is %s', (wall, zone, moment) => expect(momentOf(wall, zone)).toBe(moment))

  it('comes back', () => expect(wallOf('2026-07-01T04:00:30.000Z', NY)).toBe('2026-07-01T00:00:30'))
  it('names its distance from UTC', () => expect([0, 480, -210].map(offsetText)).toEqual(['UTC', 'UTC+8', 'UTC−3:30']))
})
