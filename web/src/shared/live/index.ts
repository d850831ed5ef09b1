import { useQueryClient, type QueryClient, type QueryKey } from '@tanstack/vue-query'
import { computed, onScopeDispose, readonly, ref, toValue, watch, type MaybeRefOrGetter } from 'vue'
import { BEAT_MS, Election, type Word } from './leader'
import { Refresher } from './refresher'
import { Stream, type Source } from './stream'

/** The topics that one may follow. The server tells of a change by the same names. */
type Topic =
  | 'jobs' | 'executions' | 'alerts' | 'nodes' | 'approvals'
  | `job:${string}` | `execution:${string}` | `workflow-run:${string}`

/** How often the screen asks while no stream is open, in milliseconds. */
const POLL_MS = 15_000
/** A stream that is not open for so long is missed. */
const MISSED_MS = 5_000

interface Follower {
  topics: readonly Topic[]
  keys: readonly QueryKey[]
  /** It stands beside the page: the page does not count as live for it. */
  aside: boolean
}

const followers = new Set<Follower>()
const streamOpen = ref(false)
/** How many of the components on screen follow something. */
const following = ref(0)
const missed = ref(false)
let refresher: Refresher | undefined
let election: Election | undefined
let stopFeed: (() => void) | undefined

/** Whether changes on this page show at once. */
export const live = computed(() => following.value > 0 && streamOpen.value)
/** Whether they should and do not: the page asks from time to time. */
export const polling = readonly(missed)

/**
 * Asks again for queries while they are on screen, whenever a topic changed:
 * `useLive(['nodes'], [['nodes']])`. Keys are beginnings of query keys. A part of every page is `aside`.
 */
export function useLive(
  topics: MaybeRefOrGetter<readonly Topic[]>, keys: MaybeRefOrGetter<readonly QueryKey[]>, { aside = false } = {},
): void {
  refresher ??= new Refresher(useQueryClient())
  const follower: Follower = { topics: [], keys: [], aside }
  followers.add(follower)
  watch([() => toValue(topics), () => toValue(keys)], ([nextTopics, nextKeys]) => {
    follower.topics = nextTopics
    follower.keys = nextKeys
    tellTopics()
  }, { immediate: true, deep: true })
  onScopeDispose(() => {
    followers.delete(follower)
    tellTopics()
  })
}

function tellTopics(): void {
  following.value = [...followers].filter((f) => f.topics.length > 0 && !f.aside).length
  election?.want([...new Set([...followers].flatMap((f) => f.topics))].sort())
}

function changed(topics: readonly string[]): void {
  const all = topics.includes('many')
  for (const { topics: wanted, keys } of followers) {
    if (all || wanted.some((topic) => topics.includes(topic))) keys.forEach((key) => refresher?.changed(key))
  }
}

function connect(address: string): Source {
  const source = new EventSource(address)
  return {
    on: (event, listener) => source.addEventListener(event, listener),
    onChanged: (listener) => source.addEventListener('changed', (event: MessageEvent<string>) => listener(event.data)),
    close: () => source.close(),
  }
}

let missing: ReturnType<typeof setTimeout> | undefined
watch(() => following.value > 0 && !streamOpen.value, (away) => {
  clearTimeout(missing)
  missed.value = false
  if (away) missing = setTimeout(() => (missed.value = true), MISSED_MS)
})

/** Starts the feed for whoever is signed in. */
export function startFeed(queries: QueryClient): void {
  if (stopFeed) return
  refresher ??= new Refresher(queries)
  const tabs = new BroadcastChannel('platform-scheduler.live')
  const stream = new Stream({
    connect,
    changed: (topics) => election?.told(topics),
    open: (open) => election?.opened(open),
  })
  const mine = new Election(Math.random().toString(36).slice(2), {
    post: (word) => tabs.postMessage(word),
    listen: (hear) => tabs.addEventListener('message', (event: MessageEvent<Word>) => hear(event.data)),
  }, {
    leads: (leading) => {
      if (!leading) stream.close()
    },
    wants: (topics) => stream.follow(topics),
    event: changed,
    open: (open) => (streamOpen.value = open),
    seen: () => document.visibilityState === 'visible',
    now: () => performance.now(),
  })
  election = mine
  tellTopics()
  const beat = setInterval(() => mine.beat(), BEAT_MS)
  const first = setTimeout(() => mine.beat(), 400)
  const poll = setInterval(() => {
    if (!streamOpen.value && document.visibilityState === 'visible') changed(['many'])
  }, POLL_MS)
  const leave = () => mine.leave()
  window.addEventListener('pagehide', leave)
  stopFeed = () => {
    for (const timer of [beat, poll]) clearInterval(timer)
    clearTimeout(first)
    window.removeEventListener('pagehide', leave)
    mine.leave()
    stream.close()
    tabs.close()
    streamOpen.value = false
    election = undefined
    stopFeed = undefined
  }
}

/** Ends the feed, where the session ended. */
export function endFeed(): void {
  stopFeed?.()
}
