// What is pictured of each page. A route without an entry here fails the run.
import type { Page } from 'playwright-core'
import type { Shown } from './data'

type Words = (key: string, params?: Record<string, unknown>) => string

export interface Picture {
  /** The name of the files. */
  name: string
  address: (shown: Shown) => string
  /** What must be there; `main h1` and no placeholders are waited for anyhow. */
  until?: string
  /** What is done before the picture. */
  before?: (page: Page, w: Words) => Promise<unknown>
  signedOut?: boolean
  phone?: boolean
}

const one = (name: string, address: string | ((shown: Shown) => string), more: Partial<Picture> = {}): Picture =>
  ({ name, address: typeof address === 'string' ? () => address : address, ...more })

const rows = { until: 'tbody tr' }
const form = { until: 'main form' }
const settings = ['rules', 'channels', 'silences', 'routes', 'templates', 'teams', 'contacts', 'on-call']
const ofSettings = Object.fromEntries(settings.flatMap((kind) => [
  [`alert-${kind}`, [one(`alert-${kind}`, `/alerts/${kind}`, { until: 'tbody tr, .empty' })]],
  [`alert-${kind}-new`, [one(`alert-${kind}-new`, `/alerts/${kind}/new`, form)]],
  [`alert-${kind}-one`, kind === 'rules' ? [one('alert-rules-one', (s) => `/alerts/rules/${s.rule}`, form)] : []],
]))

/** By the names of routes. */
export const pictures: Record<string, Picture[]> = {
  'sign-in': [one('sign-in', '/sign-in', { signedOut: true, until: 'main form' })],
  password: [one('password', '/password', form)],
  overview: [one('overview', '/overview', { until: 'main svg, main canvas' }), one('overview-phone', '/overview', { phone: true })],
  jobs: [
    one('jobs', '/jobs', rows),
    one('palette', '/jobs', { before: async (page, w) => {
      await page.keyboard.press('/')
      await page.getByRole('combobox', { name: w('app.palette.placeholder') }).fill('st')
      await page.getByRole('option', { name: 'sync stock' }).waitFor()
    } }),
    one('keys', '/jobs', { before: (page) => page.keyboard.press('?') }),
    one('trigger', (s) => `/jobs/${s.edited}`, { before: (page, w) => page.getByRole('button', { name: w('jobs.trigger'), exact: true }).click() }),
  ],
  job: [
    one('job', (s) => `/jobs/${s.job}`, { until: 'main table tbody tr' }),
    one('job-why', (s) => `/jobs/${s.job}?hours=24`, {
      until: 'main table tbody tr',
      before: (page, w) => page.locator('section').filter({ has: page.getByRole('heading', { name: w('jobs.why.title') }) }).scrollIntoViewIfNeeded(),
    }),
    ...['charts', 'runs', 'versions', 'backfill', 'alerts', 'audit'].map((tab) =>
      one(`job-${tab}`, (s) => `/jobs/${tab === 'alerts' ? s.failing : tab === 'charts' ? s.job : s.edited}?tab=${tab}`, {
        // The facts of the job are on its first picture.
        before: (page) => page.locator('nav.tabs').evaluate((tabs) => {
          tabs.style.scrollMarginTop = '64px'
          tabs.scrollIntoView()
        }),
      })),
  ],
  'job-new': [
    one('job-new', '/jobs/new', { until: '.preview li' }),
    one('job-cron', '/jobs/new', { until: '.preview li', before: async (page, w) => {
      await page.getByRole('button', { name: w('jobform.cron.sample.workdays') }).click()
      await page.locator('.preview').first().scrollIntoViewIfNeeded()
    } }),
    one('job-yaml', (s) => `/jobs/${s.edited}/edit?view=yaml`, { until: '.cm-content' }),
  ],
  'job-edit': [one('job-edit', (s) => `/jobs/${s.edited}/edit`, { until: '.preview li' })],
  executions: [one('executions', '/executions', rows), one('executions-phone', '/executions', { ...rows, phone: true })],
  execution: [
    one('execution', (s) => `/executions/${s.failed}`, { until: '.log .line' }),
    one('execution-log', (s) => `/executions/${s.good}`, { until: '.log .line', before: (page) => page.locator('.log').scrollIntoViewIfNeeded() }),
    one('execution-running', (s) => `/executions/${s.running}`),
    one('execution-shards', (s) => `/executions/${s.shards}`),
    one('execution-compare', (s) => `/executions/${s.failed}?tab=compare`, { before: (page) => page.evaluate(() => window.scrollTo(0, document.body.scrollHeight)) }),
  ],
  'dead-letters': [one('dead-letters', '/dead-letters')],
  nodes: [one('nodes', '/nodes', rows)],
  node: [one('node', (s) => `/nodes/${s.node}`)],
  alerts: [one('alerts', '/alerts', rows), one('alerts-phone', '/alerts', { phone: true, until: 'tbody tr' })],
  alert: [one('alert', (s) => `/alerts/${s.alert}`, { until: 'section.card' })],
  ...ofSettings,
  statistics: [one('statistics', '/statistics', { until: 'main canvas, main svg' })],
  wall: [one('wall', '/wall')],
  groups: [one('groups', '/groups', rows)],
  secrets: [one('secrets', '/secrets', rows)],
  users: [one('users', '/users', rows)],
  'user-new': [one('user-new', '/users/new', form)],
  user: [one('user', (s) => `/users/${s.user}`, form)],
  tokens: [one('tokens', '/tokens', rows)],
  audit: [one('audit', '/audit', rows)],
  account: [one('account', '/account')],
  settings: [one('settings', '/settings', rows)],
}
