import { watch } from 'vue'
import type { Router } from 'vue-router'
import { offline } from '@/shared/api/connection'
import { resume } from '@/shared/session/session'

/** When this tab loaded itself anew, so that it does not do so for ever. */
const KEY = 'platform-scheduler.reloaded'
const LEAST_MS = 30_000

/** The messages of browsers about a part of the console that could not be loaded. */
const failed = /dynamically imported module|preload CSS|module script failed/i

/**
 * Pages load when they are opened. Where that fails, the server is away, or another release
 * of it has other files: the page is loaded anew, once the server answers.
 */
export function reloadWherePartsAreMissing(router: Router): void {
  router.onError(async (failure, to) => {
    if (!failed.test(String(failure))) throw failure
    await resume().catch(() => undefined)
    const stop = watch(offline, (away) => {
      if (away) return
      queueMicrotask(() => stop())
      const last = Number(sessionStorage.getItem(KEY) ?? 0)
      if (Date.now() - last < LEAST_MS) return
      sessionStorage.setItem(KEY, String(Date.now()))
      location.assign(to.fullPath)
    }, { immediate: true })
  })
}
