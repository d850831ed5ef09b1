// The little pictures of policies: what becomes of fires, on a line of time from 0 to 100.

import type { Model } from '@/shared/api/types'

export interface Bar { from: number; to: number; row: number; kind: 'run' | 'wait' | 'fail' | 'cut' }
export interface Picture {
  /** Moments at which a fire is due. */
  fires: { at: number; fate: 'run' | 'skip' | 'late' }[]
  bars: Bar[]
  /** A span in which nothing could fire, or a moment at which a node is lost. */
  outage?: [number, number]
}

const run = (from: number, to: number, row = 0): Bar => ({ from, to, row, kind: 'run' })

export const overlap: Record<Model<'Job'>['overlapPolicy'], Picture> = {
  PARALLEL: { fires: [{ at: 5, fate: 'run' }, { at: 45, fate: 'run' }], bars: [run(5, 65), run(45, 98, 1)] },
  SERIAL: { fires: [{ at: 5, fate: 'run' }, { at: 45, fate: 'run' }], bars: [run(5, 65), { from: 45, to: 65, row: 1, kind: 'wait' }, run(65, 98, 1)] },
  DISCARD: { fires: [{ at: 5, fate: 'run' }, { at: 45, fate: 'skip' }, { at: 82, fate: 'run' }], bars: [run(5, 65), run(82, 98)] },
  REPLACE: { fires: [{ at: 5, fate: 'run' }, { at: 45, fate: 'run' }], bars: [{ from: 5, to: 45, row: 0, kind: 'cut' }, run(45, 98, 1)] },
}

export const misfire: Record<Model<'Schedule'>['misfirePolicy'], Picture> = {
  FIRE_ONCE: {
    fires: [{ at: 5, fate: 'run' }, { at: 32, fate: 'skip' }, { at: 50, fate: 'late' }, { at: 88, fate: 'run' }],
    outage: [22, 60], bars: [run(5, 15), run(61, 71), run(88, 98)],
  },
  SKIP: {
    fires: [{ at: 5, fate: 'run' }, { at: 32, fate: 'skip' }, { at: 50, fate: 'skip' }, { at: 88, fate: 'run' }],
    outage: [22, 60], bars: [run(5, 15), run(88, 98)],
  },
  FIRE_ALL: {
    fires: [{ at: 5, fate: 'run' }, { at: 32, fate: 'late' }, { at: 50, fate: 'late' }, { at: 88, fate: 'run' }],
    outage: [22, 60], bars: [run(5, 15), run(61, 71), run(73, 83, 1), run(88, 98)],
  },
}

export const nodeLoss: Record<Model<'Job'>['onNodeLoss'], Picture> = {
  RETRY: { fires: [{ at: 5, fate: 'run' }], outage: [44, 48], bars: [{ from: 5, to: 44, row: 0, kind: 'cut' }, run(56, 98, 1)] },
  FAIL: { fires: [{ at: 5, fate: 'run' }], outage: [44, 48], bars: [{ from: 5, to: 44, row: 0, kind: 'fail' }] },
}

type Retry = Pick<Model<'RetryPolicy'>, 'maxRetries' | 'backoff' | 'intervalMs' | 'maxIntervalMs'>

/** The waits between attempts, without their jitter; at most `most`. */
export function waits(policy: Retry, most = 5): number[] {
  return Array.from({ length: Math.min(policy.maxRetries, most) }, (_, n) => {
    const factor = policy.backoff === 'FIXED' ? 1 : policy.backoff === 'LINEAR' ? n + 1 : 2 ** n
    return Math.min(policy.intervalMs * factor, Math.max(policy.maxIntervalMs, policy.intervalMs))
  })
}

/** The attempts of a run that fails each time, to scale but for the attempts. */
export function retry(policy: Retry): Picture {
  const pauses = waits(policy)
  const total = pauses.reduce((sum, ms) => sum + ms, 0)
  const width = 6
  const room = 93 - width * (pauses.length + 1)
  const bars: Bar[] = [{ from: 5, to: 5 + width, row: 0, kind: 'fail' }]
  let at = 5 + width
  pauses.forEach((ms, i) => {
    const gap = total === 0 ? 0 : Math.max((ms / total) * room, 1)
    bars.push({ from: at, to: at + gap, row: 0, kind: 'wait' })
    bars.push({ from: at + gap, to: at + gap + width, row: 0, kind: i === pauses.length - 1 ? 'run' : 'fail' })
    at += gap + width
  })
  return { fires: [{ at: 5, fate: 'run' }], bars }
}
