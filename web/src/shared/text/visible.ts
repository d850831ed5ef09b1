// Controls, and what turns the direction of text: shown, so that nothing hides.
const controls = /[\u0000-\u0008\u000a-\u001f\u007f-\u009f\u061c\u200b-\u200f\u2028-\u202e\u2060-\u2069\ufeff]/g

/** A text whose control characters are seen. */
export function visible(text: string): string {
  return text.replace(controls, (sign) => {
    const code = sign.charCodeAt(0)
    if (code < 0x20) return String.fromCharCode(0x2400 + code)
    if (code === 0x7f) return '␡'
    return `⟨${code.toString(16).toUpperCase().padStart(4, '0')}⟩`
  })
}
