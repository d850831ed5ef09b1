import element from 'element-plus/es/locale/lang/en'
import { collect, type Language } from './language'

const files = import.meta.glob<Language['texts'][string]>(
  ['./texts/en.ts', '../../app/texts/en.ts', '../../features/*/texts/en.ts'],
  { eager: true, import: 'default' },
)

export default { texts: collect(files), element, dayjs: 'en' } satisfies Language
