import type { Language as ElementLanguage } from 'element-plus/es/locale'

/** The shape of the texts of a feature in another language: the same keys. */
export type Texts<T> = { [K in keyof T]: T[K] extends string ? string : Texts<T[K]> }

interface Tree {
  [key: string]: string | Tree
}

/** All texts of a language, and those of Element Plus and dayjs. */
export interface Language {
  texts: Record<string, Tree>
  element: ElementLanguage
  /** The name of the locale of dayjs, which is registered. */
  dayjs: string
}

/** Puts the files of texts below the names of their folders: features/nodes/texts/en.ts is `nodes`. */
export function collect(files: Record<string, Tree>): Record<string, Tree> {
  return Object.fromEntries(
    Object.entries(files).map(([path, texts]) => {
      const folder = /([^/]+)\/texts\/[^/]+$/.exec(path)?.[1] ?? 'shared'
      return [folder === 'text' || folder === '.' ? 'shared' : folder, texts]
    }),
  )
}
