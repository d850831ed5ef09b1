// The pictures of the guide. A test compares it with what the documents show.
import type { Page } from 'playwright-core'
import type { Shown } from './data'

type Words = (key: string, params?: Record<string, unknown>) => string

interface Picture {
  /** The name of the files. */
  name: string
  address: (shown: Shown) => string
  /** Elements that must be there; `main h1` and no placeholders are waited for anyhow. */
  until?: string
  /** The steps before the picture. */
  before?: (page: Page, w: Words) => Promise<unknown>
  signedOut?: boolean
  phone?: boolean
}

const one = (name: string, address: string | ((shown: Shown) => string), more: Partial<Picture> = {}): Picture =>
  ({ name, address: typeof address === 'string' ? () => address : address, ...more })

const rows = { until: 'tbody tr' }
const form = { until: 'main form' }
/** Scrolls until something stands below the bar. */
const toTop = (page: Page, what: string) => page.locator(what).first().evaluate((element) => {
  if (element instanceof HTMLElement) element.style.scrollMarginTop = '64px'
  element.scrollIntoView()
})
/** The tabs of a job, scrolled to: its facts are on its first picture. */
const tab = (name: string, id: (shown: Shown) => string) =>
  one(`job-${name}`, (s) => `/jobs/${id(s)}?tab=${name}`, { before: (page) => toTop(page, 'nav.tabs') })

export const pictures: Picture[] = [
  one('sign-in', '/sign-in', { signedOut: true, until: 'main form' }),
  one('password', '/password', form),
  one('overview', '/overview', { until: 'main svg, main canvas' }),
  one('jobs', '/jobs', rows),
  one('palette', '/jobs', { before: async (page, w) => {
    await page.keyboard.press('/')
    await page.getByRole('combobox', { name: w('app.palette.placeholder') }).fill('st')
    await page.getByRole('option', { name: 'sync stock' }).waitFor()
  } }),
  one('keys', '/jobs', { before: (page) => page.keyboard.press('?') }),
  one('trigger', (s) => `/jobs/${s.edited}`, { before: (page, w) => page.getByRole('button', { name: w('jobs.trigger'), exact: true }).click() }),
  one('job', (s) => `/jobs/${s.job}`, { until: 'main table tbody tr' }),
  one('job-why', (s) => `/jobs/${s.job}?hours=24`, {
    until: 'main table tbody tr',
    before: (page, w) => page.locator('section').filter({ has: page.getByRole('heading', { name: w('jobs.why.title') }) }).scrollIntoViewIfNeeded(),
  }),
  tab('charts', (s) => s.job),
  tab('versions', (s) => s.edited),
  tab('backfill', (s) => s.edited),
  one('job-new', '/jobs/new', { until: '.preview li' }),
  one('job-cron', '/jobs/new', { until: '.preview li', before: async (page, w) => {
    await page.getByRole('button', { name: w('jobform.cron.sample.workdays') }).click()
    await page.locator('.preview').first().scrollIntoViewIfNeeded()
  } }),
  one('job-yaml', (s) => `/jobs/${s.edited}/edit?view=yaml`, { until: '.cm-content' }),
  one('workflow-new', '/jobs/new', { before: async (page, w) => {
    await page.getByRole('radio', { name: w('jobform.type.WORKFLOW') }).check()
    await page.getByText(w('jobform.workflow.good')).waitFor()
    await toTop(page, '.workflow')
  } }),
  one('workflow', (s) => `/jobs/${s.flow}`, { until: 'td.cell a', before: (page) => toTop(page, 'nav.tabs') }),
  one('workflow-run', (s) => `/workflow-runs/${s.held}?step=publish`, { until: 'g.node', before: (page) => toTop(page, 'section.card:has(g.node)') }),
  one('approvals', '/approvals', rows),
  one('executions', '/executions', rows),
  one('execution', (s) => `/executions/${s.failed}`, { until: '.log .line' }),
  one('execution-shards', (s) => `/executions/${s.shards}`),
  one('dead-letters', '/dead-letters'),
  one('nodes', '/nodes', rows),
  one('node', (s) => `/nodes/${s.node}`),
  one('workers', '/workers', rows),
  one('worker', (s) => `/workers/${s.worker}`, rows),
  one('worker-group', '/worker-groups/shop', rows),
  one('alerts', '/alerts', rows),
  one('alerts-phone', '/alerts', { phone: true, until: 'tbody tr' }),
  one('alert', (s) => `/alerts/${s.alert}`, { until: 'section.card' }),
  one('alert-rules-one', (s) => `/alerts/rules/${s.rule}`, form),
  one('alert-channels-new', '/alerts/channels/new', form),
  one('alert-silences', '/alerts/silences', { until: 'tbody tr, .empty' }),
  one('alert-routes', '/alerts/routes', { until: 'tbody tr, .empty' }),
  one('statistics', '/statistics', { until: 'main canvas, main svg' }),
  one('wall', '/wall'),
  one('groups', '/groups', rows),
  one('secrets', '/secrets', rows),
  one('users', '/users', rows),
  one('tokens', '/tokens', rows),
  one('audit', '/audit', rows),
  one('settings', '/settings', rows),
]
