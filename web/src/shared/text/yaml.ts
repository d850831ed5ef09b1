// Writes a document of the API as YAML. The server reads it: nothing here parses any.

type Value = string | number | boolean | null | Value[] | { [key: string]: Value }

/** An object as JSON has it. */
export type Body = { [key: string]: Value }

/** The document with these jobs, as POST /import takes it and GET /export writes it. */
export function documentOf(...jobs: Body[]): string {
  return jobs.length === 0 ? 'version: 1\njobs: []\n' : `version: 1\njobs:\n${jobs.map((job) => item(job, '')).join('\n')}\n`
}

/** An object as YAML, such as the steps of a workflow. */
export function yamlOf(body: Body): string {
  return Object.keys(body).length === 0 ? '' : `${write(body, '')}\n`
}

function item(value: Value, indent: string): string {
  const inner = write(value, `${indent}  `)
  return `${indent}- ${inner.trimStart()}`
}

function write(value: Value, indent: string): string {
  if (Array.isArray(value)) {
    if (value.length === 0) return ' []'
    if (value.every((v) => typeof v !== 'object' || v === null)) return ` [${value.map((v) => scalar(v, true)).join(', ')}]`
    return `\n${value.map((v) => item(v, indent)).join('\n')}`
  }
  if (typeof value === 'object' && value !== null) {
    const lines = Object.entries(value).map(([key, v]) => `${indent}${name(key)}:${child(v, indent)}`)
    return lines.length === 0 ? ' {}' : lines.join('\n')
  }
  return ` ${scalar(value, false)}`
}

function child(value: Value, indent: string): string {
  if (typeof value === 'string' && block(value)) {
    const keep = value.endsWith('\n') ? '|' : '|-'
    return ` ${keep}\n${value.replace(/\n$/, '').split('\n').map((line) => (line === '' ? '' : `${indent}  ${line}`)).join('\n')}`
  }
  if (typeof value === 'object' && value !== null && !Array.isArray(value)) {
    const text = write(value, `${indent}  `)
    return text.startsWith(' ') && text.trim() === '{}' ? text : `\n${text}`
  }
  return write(value, indent)
}

/** Whether a text may be written in lines: a block keeps everything but some edges. */
function block(text: string): boolean {
  return text.includes('\n') && !/^[\s]/.test(text) && !/\n\n$/.test(text) && !/[\r\t\u0000-\u0009\u000b-\u001f\u007f-\u00a0\u2028\u2029\ufeff]/.test(text) && text !== '\n'
}

/** A text without quotes where no reading of YAML takes it for anything else. */
function scalar(value: string | number | boolean | null | Value, flow: boolean): string {
  if (typeof value !== 'string') return JSON.stringify(value)
  const plain = /^[A-Za-z\u4e00-\u9fff/][\w\u4e00-\u9fff ./@+-]*$/.test(value) && !/\s$/.test(value)
  const word = /^(true|false|null|yes|no|on|off|y|n|~)$/i.test(value)
  return plain && !word && !(flow && value.includes(' ')) ? value : JSON.stringify(value)
}

function name(key: string): string {
  return /^[A-Za-z_][\w-]*$/.test(key) && !/^(true|false|null|yes|no|on|off|y|n)$/i.test(key) ? key : JSON.stringify(key)
}
