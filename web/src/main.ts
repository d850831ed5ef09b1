import { VueQueryPlugin } from '@tanstack/vue-query'
import { createApp } from 'vue'
import '@/shared/style/tokens.css'
import '@/shared/style/base.css'
import 'element-plus/theme-chalk/base.css'
import '@/shared/style/element.css'
import App from '@/app/App.vue'
import { reloadWherePartsAreMissing } from '@/app/reload'
import { newRouter } from '@/app/router'
import { newQueryClient } from '@/shared/api/queries'
import { i18n, preferredLanguage, setLanguage } from '@/shared/text'
import { startTheme } from '@/shared/theme'

startTheme()
await setLanguage(preferredLanguage())

const router = newRouter()
reloadWherePartsAreMissing(router)
const app = createApp(App).use(i18n).use(router).use(VueQueryPlugin, { queryClient: newQueryClient() })
// The user and the wanted page are known then.
await router.isReady()
app.mount('#app')
