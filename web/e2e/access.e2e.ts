// Users, tokens, secrets, groups and the own account.
import type { Page } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { findings } from './axe'
import { Console, Server, beforeItReads, shot, waitFor, type View } from './harness'

const hostile = '<img src=x onerror=alert(1)> {{7*7}} שלום'
let server: Server
let browser: Console

beforeAll(async () => {
  server = await Server.start()
  browser = await Console.start(server)
})
afterAll(async () => {
  await browser?.stop()
  await server?.remove()
})

const row = (page: Page, text: string) => page.getByRole('row').filter({ hasText: text })

/** A radio button or a checkbox, which Element Plus draws beside its hidden field. */
const choice = (page: Page, text: string) => page.locator('label.el-radio, label.el-checkbox').filter({ hasText: text })

interface Listed {
  items: { id: string; username: string; role: string; name: string; maxConcurrency: number; groups: unknown }[]
}

async function listed(address: string): Promise<Listed['items']> {
  return (await server.api<Listed>('GET', address)).items
}

describe('users', () => {
  it('are made with a role in groups, changed, and deleted', async () => {
    await server.api('POST', '/api/v1/groups', { name: 'payments' })
    const page = await browser.signedIn('/users')
    await page.getByRole('button', { name: 'New user' }).click()
    await page.getByLabel('User name').fill('olga')
    await page.getByLabel('New password').fill('short')
    await page.getByRole('button', { name: 'Create user' }).click()
    await page.locator('.el-form-item__error').filter({ hasText: '10' }).waitFor()
    await page.getByRole('button', { name: 'Make one up' }).click()
    const password = await page.getByLabel('New password').inputValue()
    expect(password).toMatch(/^(\w{5}-){3}\w{5}$/)
    await choice(page, 'Operator').click()
    await choice(page, 'Only these groups').click()
    await page.getByRole('combobox', { name: 'Group 1', exact: true }).fill('payments')
    await page.getByRole('option', { name: 'payments' }).first().click()
    await page.getByRole('button', { name: 'Create user' }).click()
    await page.getByRole('heading', { level: 1, name: 'olga' }).waitFor()
    expect((await listed('/api/v1/users')).find((u) => u.username === 'olga')).toMatchObject({ role: 'operator', groups: { payments: 'operator' } })
    // The password that was made up opens the door, for that group alone.
    const { items } = await server.api<Listed>('GET', '/api/v1/groups', undefined, await server.token('olga', password))
    expect(items.map((g) => g.name)).toEqual(['payments'])

    await page.getByRole('button', { name: 'Disable' }).click()
    await page.getByRole('dialog', { name: 'Disable olga?' }).getByRole('button', { name: 'Disable' }).click()
    await page.locator('h1').getByText('Disabled').waitFor()
    await page.getByRole('button', { name: 'Delete' }).click()
    const dialog = page.getByRole('dialog', { name: 'Delete olga?' })
    expect(await dialog.getByRole('button', { name: 'Delete' }).isDisabled()).toBe(true)
    await dialog.getByLabel('Type olga to confirm').fill('olga')
    await dialog.getByRole('button', { name: 'Delete' }).click()
    await page.getByRole('heading', { level: 1, name: 'Users' }).waitFor()
    await waitFor(async () => (await row(page, 'olga').count()) === 0)
    await page.context().close()
  })

  it('get another password, which ends their sessions', async () => {
    const password = await server.user('uwe', 'viewer')
    const his = await browser.signedIn('/nodes', {}, { username: 'uwe', password })
    const page = await browser.signedIn('/users')
    await page.getByRole('link', { name: 'uwe' }).click()
    await page.getByRole('button', { name: 'Reset password' }).click()
    const dialog = page.getByRole('dialog', { name: 'Another password for uwe' })
    await dialog.getByLabel('New password').fill('another-Long-4417')
    await beforeItReads(his, async () => {
      await dialog.getByRole('button', { name: 'Reset password' }).click()
      await dialog.waitFor({ state: 'hidden' })
      await his.locator('tbody a').click()
    })
    await his.getByText('Your session is over').waitFor()
    await his.getByLabel('User name').fill('uwe')
    await his.getByLabel('Password').fill('another-Long-4417')
    await his.getByRole('button', { name: 'Sign in' }).click()
    await his.getByRole('button', { name: 'Account of uwe' }).waitFor()
    for (const p of [his, page]) await p.context().close()
  })

  it('have their sessions ended', async () => {
    const password = await server.user('sina', 'viewer')
    const hers = await browser.signedIn('/nodes', {}, { username: 'sina', password })
    const page = await browser.signedIn('/users')
    await page.getByRole('link', { name: 'sina' }).click()
    await page.getByRole('button', { name: 'End sessions' }).click()
    await beforeItReads(hers, async () => {
      await page.getByRole('dialog', { name: 'End the sessions of sina?' }).getByRole('button', { name: 'End sessions' }).click()
      await page.getByText('The sessions of sina are over').waitFor()
      await hers.locator('tbody a').click()
    })
    await hers.getByText('Your session is over').waitFor()
    for (const p of [hers, page]) await p.context().close()
  })

  it('keep the last admin', async () => {
    const page = await browser.signedIn('/users')
    await page.getByRole('link', { name: 'admin' }).click()
    await page.getByText('This is the only admin').waitFor()
    expect(await page.getByRole('button', { name: 'Disable' }).count()).toBe(0)
    expect(await page.getByRole('button', { name: 'Delete' }).count()).toBe(0)
    expect(await page.getByRole('radio', { name: 'Viewer' }).isDisabled()).toBe(true)
    await page.context().close()
  })
})

describe('the own account', () => {
  it('shows the own sessions, and ends the others', async () => {
    const password = await server.user('sam', 'viewer')
    const one = await browser.signedIn('/nodes', {}, { username: 'sam', password })
    const two = await browser.signedIn('/account', {}, { username: 'sam', password })
    await two.getByText('this one').waitFor()
    expect(await two.locator('section').filter({ hasText: 'My sessions' }).locator('li').count()).toBe(2)
    await two.getByRole('button', { name: 'End the others' }).click()
    await beforeItReads(one, async () => {
      await two.getByRole('dialog', { name: 'End the other session?' }).getByRole('button', { name: 'End the others' }).click()
      await waitFor(async () => (await two.locator('section').filter({ hasText: 'My sessions' }).locator('li').count()) === 1)
      await one.locator('tbody a').click()
    })
    await one.getByText('Your session is over').waitFor()
    for (const p of [one, two]) await p.context().close()
  })
})

describe('API tokens', () => {
  it('are shown once, do what they may, and are revoked', async () => {
    const password = await server.user('tom', 'operator')
    const page = await browser.signedIn('/tokens', {}, { username: 'tom', password })
    await page.getByRole('button', { name: 'New token' }).click()
    const dialog = page.getByRole('dialog', { name: 'New token' })
    await dialog.getByLabel('Name', { exact: true }).fill(hostile)
    expect(await dialog.getByRole('button', { name: 'Create' }).isDisabled()).toBe(true)
    await choice(page, 'job:read').click()
    expect(await dialog.getByRole('checkbox', { name: 'user:admin' }).count()).toBe(0)
    expect(await findings(page)).toEqual([])
    await dialog.getByRole('button', { name: 'Create' }).click()
    const secret = (await page.locator('[data-test=token]').textContent()) ?? ''
    expect(await findings(page)).toEqual([])
    await server.api('GET', '/api/v1/jobs', undefined, secret)
    await expect(server.api('POST', '/api/v1/groups', { name: 'x' }, secret)).rejects.toThrow('403')
    await page.getByRole('button', { name: 'I have stored it' }).click()
    await page.locator('[data-test=token]').waitFor({ state: 'detached' })
    await row(page, hostile).waitFor()
    expect(await page.content()).not.toContain(secret)
    await row(page, hostile).getByRole('button', { name: /^Revoke/ }).click()
    await page.getByRole('dialog').getByRole('button', { name: 'Revoke' }).click()
    await page.getByText('Make one for a program').waitFor()
    await expect(server.api('GET', '/api/v1/jobs', undefined, secret)).rejects.toThrow('401')
    await page.context().close()
  })
})

describe('secrets', () => {
  it('are kept, replaced and deleted, and never shown', async () => {
    const page = await browser.signedIn('/secrets?new=true')
    const value = 'a-very-secret-value-77'
    const form = page.getByRole('dialog')
    await form.getByLabel('Name').fill('mail-key')
    await form.getByLabel('Value').fill(value)
    await form.getByLabel('What it is for').fill(hostile)
    await choice(page, 'All groups').click()
    await form.getByRole('button', { name: 'Save' }).click()
    await row(page, 'mail-key').waitFor()
    expect(await row(page, 'mail-key').textContent()).toContain(hostile)
    expect(await page.content()).not.toContain(value)
    await page.getByRole('button', { name: 'Edit mail-key' }).click()
    expect(await form.getByLabel('New value').inputValue()).toBe('')
    await form.getByLabel('New value').fill('another-value-78')
    await form.getByRole('button', { name: 'Save' }).click()
    await row(page, 'mail-key').getByRole('cell', { name: '2', exact: true }).waitFor()
    await page.getByRole('button', { name: 'Delete mail-key' }).click()
    await page.getByLabel('Type mail-key to confirm').fill('mail-key')
    await form.getByRole('button', { name: 'Delete' }).click()
    await page.getByText('Keep a password here').waitFor()
    await page.context().close()
  })

  it('name the jobs that use them before they go', async () => {
    await server.api('POST', '/api/v1/secrets', { name: 'used', value: 'long-enough-2', groups: [] })
    await server.api('POST', '/api/v1/jobs', {
      name: 'asks the bank', group: 'banks', jobType: 'HTTP', schedule: { kind: 'NONE' },
      jobData: { url: 'http://127.0.0.1:8099/', headers: { Authorization: '${secret.used}' } },
    })
    const page = await browser.signedIn('/secrets')
    await page.getByRole('button', { name: 'Delete used' }).click()
    const dialog = page.getByRole('dialog', { name: 'Delete used?' })
    await dialog.getByRole('link', { name: 'asks the bank' }).waitFor()
    expect(await findings(page)).toEqual([])
    await dialog.getByRole('button', { name: 'Cancel' }).click()
    await page.getByRole('button', { name: 'Edit used' }).click()
    await page.getByRole('dialog').getByRole('link', { name: 'asks the bank' }).click()
    await page.getByRole('heading', { level: 1, name: 'asks the bank' }).waitFor()
    await page.context().close()
  })
})

describe('groups', () => {
  it('are made with a limit, paused and deleted', async () => {
    const page = await browser.signedIn('/groups')
    await page.getByRole('button', { name: 'New group' }).click()
    const form = page.getByRole('dialog')
    await form.getByLabel('Name').fill('reports')
    await form.getByLabel('Runs of its jobs at once').fill('4')
    await form.getByRole('button', { name: 'Save' }).click()
    await row(page, 'reports').getByRole('cell', { name: '4', exact: true }).waitFor()
    await page.getByRole('button', { name: 'Pause reports' }).click()
    await form.getByLabel('Reason').fill('the books are closed')
    await form.getByRole('button', { name: 'Pause' }).click()
    await row(page, 'reports').getByText('Paused').waitFor()
    await page.getByRole('button', { name: 'Edit reports' }).click()
    await form.getByLabel('Runs of its jobs at once').fill('7')
    await form.getByRole('button', { name: 'Save' }).click()
    await row(page, 'reports').getByRole('cell', { name: '7', exact: true }).waitFor()
    await page.getByRole('link', { name: 'Show jobs of reports' }).click()
    await page.getByRole('heading', { level: 1, name: 'Jobs' }).waitFor()
    expect(new URL(page.url()).searchParams.get('group')).toBe('reports')
    await page.goBack()
    await page.getByRole('button', { name: 'Delete reports' }).click()
    await form.getByRole('button', { name: 'Delete' }).click()
    await waitFor(async () => (await row(page, 'reports').count()) === 0)
    await page.context().close()
  })

  it('say why one cannot be deleted', async () => {
    await server.api('POST', '/api/v1/jobs', {
      name: 'stays', group: 'full', jobType: 'HTTP', jobData: { url: 'http://127.0.0.1:8099/' }, schedule: { kind: 'NONE' },
    })
    const page = await browser.signedIn('/groups')
    await page.getByRole('button', { name: 'Delete full' }).click()
    await page.getByRole('dialog').getByRole('button', { name: 'Delete' }).click()
    await page.getByRole('dialog').getByRole('alert').filter({ hasText: /job/ }).waitFor()
    await page.context().close()
  })
})

describe('who may not', () => {
  it('is not offered it, and is refused', async () => {
    const password = await server.user('vera', 'viewer')
    const page = await browser.signedIn('/account', {}, { username: 'vera', password })
    await page.getByRole('heading', { name: 'What I may do' }).waitFor()
    const rail = page.getByRole('navigation', { name: 'Places' })
    for (const place of ['Users', 'Secrets', 'Audit', 'Settings']) expect(await rail.getByRole('link', { name: place }).count(), place).toBe(0)
    for (const address of ['/users', '/users/new', '/secrets', '/audit', '/settings']) {
      await page.goto(address)
      await page.getByRole('heading', { name: 'You may not see this page' }).waitFor()
    }
    await page.goto('/groups?new=true')
    await row(page, 'full').waitFor()
    expect(await page.getByRole('dialog').count()).toBe(0)
    expect(await page.getByRole('button', { name: /New group|Edit|Pause|Delete/ }).count()).toBe(0)
    const hers = await server.token('vera', password)
    for (const [method, address] of [['GET', '/api/v1/users'], ['POST', '/api/v1/groups'], ['GET', '/api/v1/audit-logs'], ['GET', '/api/v1/settings']] as const) {
      await expect(server.api(method, address, method === 'POST' ? { name: 'y' } : undefined, hers), address).rejects.toThrow('403')
    }
    await page.context().close()
  })
})

const views: View[] = (['en', 'zh-CN'] as const).flatMap((language) => (['light', 'dark'] as const).map((theme) => ({ language, theme })))
it.each(views)('can be read by everybody: $language, $theme', async (view) => {
  const admin = (await listed('/api/v1/users')).find((u) => u.username === 'admin')?.id ?? ''
  await server.api('POST', '/api/v1/secrets', { name: `s-${view.language}-${view.theme}`, value: 'long-enough-1', groups: [] })
  const page = await browser.signedIn('/users', view)
  const addresses = ['/users', '/users/new', `/users/${admin}`, '/tokens', '/tokens?new=true', '/secrets', '/secrets?new=true', '/groups', '/audit', '/account']
  for (const address of addresses) {
    await page.goto(address)
    await page.locator('main tbody tr td, main form, main .empty').first().waitFor()
    expect(await findings(page), address).toEqual([])
    await shot(page, `access-${address.replace(admin, 'id').replace(/\W+/g, '-')}-${view.language}-${view.theme}`)
  }
  await page.context().close()
})

it('makes nobody complain', () => expect(browser.complaints).toEqual([]))
