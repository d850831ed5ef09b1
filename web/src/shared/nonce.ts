/** The nonce of this page, for the few styles that scripts make (Content-Security-Policy). */
export const nonce = document.querySelector<HTMLMetaElement>('meta[name="csp-nonce"]')?.content ?? ''
