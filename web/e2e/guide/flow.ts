// The workflows that the pictures show.
import { waitFor, type Server } from '../harness'
import type { Receiver } from '../receiver'
import type { Shown } from './data'

const post = <T>(server: Server, address: string, body: unknown = {}) => server.api<T>('POST', `/api/v1/${address}`, body)

/** A workflow with two good runs, one that a failure holds, and one that waits for a vote. */
export async function flow(server: Server, far: Receiver, schedule: object): Promise<Pick<Shown, 'flow' | 'held'>> {
  const { id } = await post<{ id: string }>(server, 'jobs', {
    name: 'release price list', group: 'warehouse', owner: 'otto', description: 'Prices are checked, approved and published.', jobType: 'WORKFLOW',
    ...schedule,
    jobData: {
      onStepFailure: 'HOLD', holdSec: 14_400,
      steps: [
        { name: 'check', forEach: { items: ['north', 'east', 'south', 'west'] }, custom: { jobClass: 'echo', data: { text: '${item}' } } },
        { name: 'approve', needs: ['check'], approval: { text: '312 prices have changed. May they be published?', timeoutSec: 14_400 } },
        { name: 'publish', needs: ['approve'], http: { method: 'POST', url: `${far.url}/prices` } },
        { name: 'announce', needs: ['publish'], custom: { jobClass: 'noop' } },
        { name: 'clean-up', finally: true, custom: { jobClass: 'noop' } },
      ],
    },
  })
  const begin = async () => {
    const [run = ''] = (await post<{ executionIds: string[] }>(server, `jobs/${id}/trigger`)).executionIds
    let asked = ''
    await waitFor(async () => {
      const { items } = await server.api<{ items: { executionId: string; runId: string }[] }>('GET', '/api/v1/approvals?status=OPEN')
      asked = items.find((a) => a.runId === run)?.executionId ?? ''
      return asked !== ''
    }, 30_000, () => 'nobody is asked')
    return { run, asked }
  }
  const approved = async (stands: (r: { phase: string; counts: { held: number } }) => boolean) => {
    const { run, asked } = await begin()
    await post(server, `approvals/${asked}`, { decision: 'APPROVE', comment: 'compared with last week' })
    await waitFor(async () => stands(await server.api('GET', `/api/v1/workflow-runs/${run}`)), 30_000, () => `the workflow run ${run} does not get there`)
    return run
  }
  for (let n = 0; n < 2; n++) await approved((r) => r.phase === 'CLOSED')
  far.answer('/prices', 503, 'the shop is being deployed')
  const held = await approved((r) => r.counts.held === 1)
  await begin()
  return { flow: id, held }
}
