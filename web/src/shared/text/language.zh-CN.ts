import 'dayjs/locale/zh-cn'
import element from 'element-plus/es/locale/lang/zh-cn'
import { collect, type Language } from './language'

const files = import.meta.glob<Language['texts'][string]>(
  ['./texts/zh-CN.ts', '../../app/texts/zh-CN.ts', '../../features/*/texts/zh-CN.ts'],
  { eager: true, import: 'default' },
)

export default { texts: collect(files), element, dayjs: 'zh-cn' } satisfies Language
