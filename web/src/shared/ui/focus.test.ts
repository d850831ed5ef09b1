import { afterEach, describe, expect, it } from 'vitest'
import { DialogFocus, firstOf } from './focus'

function dialogOf(body: string, footer = ''): HTMLElement {
  document.body.innerHTML = `<main id="main" tabindex="-1"><button id="opener"></button></main><div id="box" tabindex="-1"
    class="el-dialog"><button id="close" class="el-dialog__headerbtn"></button><div class="el-dialog__body">${body}</div>
    <div class="el-dialog__footer">${footer}</div></div>`
  return document.querySelector('.el-dialog') as HTMLElement
}

const cancel = '<button id="cancel"></button>'
const send = '<button id="send" class="el-button--primary"></button>'

afterEach(() => (document.body.innerHTML = ''))

describe('the first key in a dialog', () => {
  it.each([
    ['its first field', '<input type="hidden"><input disabled><input id="first"><input>', cancel + send, 'first'],
    ['what is marked', '<input><textarea id="first" data-first></textarea>', cancel + send, 'first'],
    ['the button that sends, for a text of several lines', '<textarea></textarea><input>', cancel + send, 'send'],
    ['the button that sends, for a field that is folded away', '<details><input></details>', cancel + send, 'send'],
    ['the safe button, for what cannot be undone', '', `${cancel}<button class="el-button--danger"></button>`, 'cancel'],
    ['the button that can be pressed', '', `${cancel}<button disabled class="el-button--danger"></button>`, 'cancel'],
    ['the one that closes it, where there is nothing else', '<p></p>', '', 'close'],
  ])('goes to %s', (_, body, footer, id) => expect(firstOf(dialogOf(body, footer)).id).toBe(id))
})

describe('the focus of a dialog', () => {
  const element = (id: string) => document.getElementById(id) as HTMLButtonElement
  const frame = () => new Promise((resolve) => setTimeout(() => requestAnimationFrame(resolve)))

  function entered(body: string, footer: string): DialogFocus {
    const dialog = dialogOf(body, footer)
    element('opener').focus()
    const focus = new DialogFocus()
    focus.begin()
    focus.enter(dialog)
    return focus
  }

  it('comes back from a button that was at work', async () => {
    const focus = entered('', cancel + send)
    element('send').blur()
    element('send').disabled = true
    await frame()
    expect(document.activeElement?.id).toBe('box')
    element('send').disabled = false
    await frame()
    expect(document.activeElement?.id).toBe('send')
    focus.end()
    expect(document.activeElement?.id).toBe('opener')
  })

  it('goes to what takes the place of a form', async () => {
    entered('<input id="field">', send)
    expect(document.activeElement?.id).toBe('field')
    element('field').remove()
    await frame()
    expect(document.activeElement?.id).toBe('send')
  })

  it('goes to the page where the opener has gone', () => {
    const focus = entered('<input>', send)
    element('opener').remove()
    focus.end()
    expect(document.activeElement?.id).toBe('main')
  })

  it('stays where it is when a dialog goes that was not open', () => {
    dialogOf('', '')
    new DialogFocus().end()
    expect(document.activeElement).toBe(document.body)
  })
})

it('is the same of every dialog', () => {
  const sources = import.meta.glob<string>('/src/**/*.vue', { query: '?raw', import: 'default', eager: true })
  const own = Object.keys(sources).filter((file) => /<ElDialog|<el-dialog|ElMessageBox|<ElDrawer/.test(sources[file] ?? ''))
  expect(own).toEqual(['/src/shared/ui/ModalDialog.vue'])
})
