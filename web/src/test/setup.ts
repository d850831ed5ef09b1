import { config, enableAutoUnmount } from '@vue/test-utils'
import { afterEach, beforeEach } from 'vitest'
import { i18n, setLanguage } from '@/shared/text'

enableAutoUnmount(afterEach)
config.global.plugins = [i18n]
// Elements that move in and out would stay in the page for a while.
config.global.stubs = { transition: true, 'transition-group': true, teleport: true }

beforeEach(async () => {
  localStorage.clear()
  await setLanguage('en')
})
