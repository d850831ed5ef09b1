import { namesOf } from '@/shared/api/names'
import type { Role, User } from './queries'

export const roles = namesOf<Role>({ admin: true, operator: true, viewer: true, disabled: true })

/** The fields of a form about the rights of a user. */
export interface Rights {
  role: Role
  bound: boolean
  /** Role by group; it counts where bound. */
  groups: { name: string; role: Role }[]
  commands: boolean
  secrets: boolean
}

export function rightsOf(user?: Pick<User, 'role' | 'groups' | 'commands' | 'secrets'>): Rights {
  return {
    role: user?.role ?? 'viewer',
    bound: (user?.groups ?? null) !== null,
    groups: Object.entries(user?.groups ?? {}).map(([name, role]) => ({ name, role })),
    commands: user?.commands ?? false,
    secrets: user?.secrets ?? false,
  }
}

/**
 * The rights as the server takes them. Without `groups` a user is bound to none: an admin always is.
 * Only operators are given rights of their own.
 */
export function bodyOf(rights: Rights): Pick<User, 'role' | 'commands' | 'secrets'> & { groups?: Record<string, Role> } {
  const { role, bound, groups } = rights
  const operator = role === 'operator'
  const named = groups.filter((g) => g.name.trim() !== '')
  return {
    role, commands: operator && rights.commands, secrets: operator && rights.secrets,
    ...(bound && role !== 'admin' ? { groups: Object.fromEntries(named.map((g) => [g.name.trim(), g.role])) } : {}),
  }
}

const LETTERS = 'ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz23456789'

/** A password of 20 letters and digits that are not mistaken for each other, in groups of five. */
export function newPassword(): string {
  const drawn: string[] = []
  while (drawn.length < 20) {
    // A byte beyond the last whole round of the letters would make some of them likelier.
    const byte = crypto.getRandomValues(new Uint8Array(1))[0] ?? 255
    const letter = byte < 256 - (256 % LETTERS.length) ? LETTERS[byte % LETTERS.length] : undefined
    if (letter !== undefined) drawn.push(letter)
  }
  return drawn.join('').replace(/.{5}(?!$)/g, '$&-')
}
