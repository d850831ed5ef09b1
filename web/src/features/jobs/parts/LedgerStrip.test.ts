import { mount } from '@vue/test-utils'
import { beforeAll, describe, expect, it } from 'vitest'
import { setLanguage } from '@/shared/text'
import { kindOf, kinds, marksOf, type Kind } from '../model/ledger'
import type { Fire } from '../queries'
import type { Execution } from '../runs/queries'
import LedgerStrip from './LedgerStrip.vue'

function fire(minute: number, more: Partial<Fire> = {}): Fire {
  const scheduledTime = `2026-11-20T08:${String(minute).padStart(2, '0')}:00Z`
  return {
    scheduledTime, fireKey: scheduledTime, outcome: 'SUCCESS', latenessMs: 20, reason: '', waitsFor: '', message: '', executionIds: ['e'],
    replays: [], count: null, countAtLeast: false, rangeEnd: null, startedBy: null, ...more,
  }
}

beforeAll(() => setLanguage('en'))

describe('a fire', () => {
  it.each<[Partial<Fire>, Kind]>([
    [{}, 'onTime'], [{ latenessMs: 1_000 }, 'onTime'], [{ latenessMs: 1_001 }, 'late'], [{ outcome: 'FAILED' }, 'failed'],
    [{ outcome: 'DEAD', replays: ['r'] }, 'retried'], [{ outcome: 'SKIPPED', reason: 'OVERLAP' }, 'skipped'], [{ outcome: 'TIMEOUT' }, 'timeout'],
    [{ outcome: 'PLANNED' }, 'toCome'], [{ outcome: 'RUNNING', replays: ['r'] }, 'running'], [{ outcome: 'WAITING' }, 'waiting'],
    [{ outcome: 'CANCELLED' }, 'cancelled'], [{ outcome: 'DEAD' }, 'dead'],
  ])('%o is shown as %s', (more, kind) => expect(kindOf(fire(0, more))).toBe(kind))

  it('has a shape of its own for each kind', () => {
    const shapes = Object.values(kinds).map((look) => look.shape)
    expect(new Set(shapes).size).toBe(shapes.length)
  })
})

describe('the marks', () => {
  const run = (id: string, minute: number) => ({ id, scheduledTime: `2026-11-20T08:${String(minute).padStart(2, '0')}:00Z` }) as Execution

  it('are fires and the runs beside them, by time; what the ledger counts to a fire is no mark of its own', () => {
    const fires = [fire(1, { executionIds: ['a'], replays: ['b'] }), fire(5, { executionIds: [] })]
    const marks = marksOf(fires, [run('b', 1), run('c', 3), run('d', 9)])
    expect(marks.map((m) => m.run?.id ?? m.fire?.scheduledTime.slice(14, 16))).toEqual(['01', 'c', '05', 'd'])
  })
})

describe('the strip', () => {
  const fires = [fire(0), fire(1, { outcome: 'FAILED', reason: 'EXIT_CODE' }), fire(2, { outcome: 'SKIPPED', reason: 'PAUSED', count: 30 }), fire(3, { outcome: 'PLANNED' })]
  const make = (picked = '') => mount(LedgerStrip, {
    props: { fires, picked }, attachTo: document.body, global: { stubs: { RouterLink: true } },
  })

  it('says each fire in words, and lists the kinds that are there', () => {
    const strip = make()
    const names = strip.findAll('button').map((b) => b.attributes('aria-label'))
    expect(names[1]).toContain('Failed, the command ended with a code that is no success')
    expect(names[2]).toContain('Skipped, 30 fires')
    expect(names[3]).toContain('To come')
    expect(strip.findAll('.legend li').map((l) => l.text())).toEqual(['On time', 'Failed', 'Skipped', 'To come'])
    strip.unmount()
  })

  it('tells which fire is chosen', async () => {
    const strip = make(fires[1]?.scheduledTime)
    await strip.findAll('button')[0]?.trigger('click')
    expect(strip.emitted('pick')?.[0]).toEqual([fires[0]])
    expect(strip.findAll('button').map((b) => b.attributes('aria-pressed'))).toEqual(['false', 'true', 'false', 'false'])
    strip.unmount()
  })

  it('is one stop of Tab, and the arrow keys move along it', async () => {
    const strip = make()
    const stops = () => strip.findAll('button').map((b) => b.attributes('tabindex'))
    const group = strip.get('[role=group]')
    expect(stops()).toEqual(['-1', '-1', '-1', '0'])
    await group.trigger('keydown', { key: 'ArrowLeft' })
    expect(stops()).toEqual(['-1', '-1', '0', '-1'])
    await group.trigger('keydown', { key: 'Home' })
    await group.trigger('keydown', { key: 'ArrowLeft' })
    expect(stops()).toEqual(['0', '-1', '-1', '-1'])
    await expect.poll(() => document.activeElement).toBe(strip.findAll('button')[0]?.element)
    await group.trigger('keydown', { key: 'End' })
    expect(stops()[3]).toBe('0')
    strip.unmount()
  })
})
