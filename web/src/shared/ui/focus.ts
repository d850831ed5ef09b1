const FIELD = '.el-dialog__body :is(input:not([type=hidden], [disabled]), textarea:not([disabled]))'
const BUTTONS = '.el-dialog__footer button:not([disabled])'

/**
 * Where the first key goes in a dialog: what is marked `data-first`, or its first field. Where there is no field, or
 * where that field has several lines and so keeps Enter for itself, it is the button that sends the form. Where that
 * button does what cannot be undone, it is the one before it.
 */
export function firstOf(dialog: HTMLElement): HTMLElement {
  const marked = dialog.querySelector<HTMLElement>('[data-first]')
  const field = dialog.querySelector<HTMLElement>(FIELD)
  const buttons = [...dialog.querySelectorAll<HTMLElement>(BUTTONS)]
  const danger = buttons.some((b) => b.classList.contains('el-button--danger'))
  const takesEnter = field && field.tagName !== 'TEXTAREA' && !field.closest('details:not([open])')
  return marked ?? (takesEnter ? field : undefined) ?? buttons.at(danger ? 0 : -1)
    ?? dialog.querySelector<HTMLElement>('.el-dialog__headerbtn') ?? dialog
}

/** Whether no element has the focus: what one types goes nowhere then. */
const nobody = () => document.activeElement === null || document.activeElement === document.body

/** The focus of one dialog: it goes in, is not lost while the dialog is open, and goes back. */
export class DialogFocus {
  private opener: Element | null = null
  private dialog: HTMLElement | undefined
  private last: HTMLElement | undefined
  private parked = false
  private readonly changes = new MutationObserver(() => requestAnimationFrame(() => this.keep()))
  private readonly note = (e: FocusEvent) => {
    if (e.target !== this.dialog) this.last = e.target as HTMLElement
  }

  /** The dialog opens; the opener has the focus still. */
  begin(): void {
    this.opener = document.activeElement
  }

  /** The dialog is there, and has given the focus to its own box. */
  enter(dialog: HTMLElement): void {
    this.dialog = dialog
    this.last = undefined
    dialog.addEventListener('focusin', this.note)
    this.changes.observe(dialog, { childList: true, subtree: true, attributeFilter: ['disabled'] })
    firstOf(dialog).focus()
  }

  /** What has the focus may go, as a form that was sent, or be switched off, as a button that is at work. */
  private keep(): void {
    const { dialog, last } = this
    if (!dialog || !(nobody() || (this.parked && document.activeElement === dialog))) return
    this.parked = last?.isConnected === true && last.hasAttribute('disabled')
    if (this.parked) dialog.focus()
    else (last?.isConnected ? last : firstOf(dialog)).focus()
  }

  /** The dialog closes. Where its opener has gone with what it was about, the page gets the focus. */
  end(): void {
    const { dialog, opener } = this
    if (!opener) return
    this.changes.disconnect()
    dialog?.removeEventListener('focusin', this.note)
    this.dialog = undefined
    this.opener = null
    const lost = () => nobody() || dialog?.contains(document.activeElement)
    if (lost()) (opener as HTMLElement).focus()
    if (lost()) document.getElementById('main')?.focus()
  }
}
