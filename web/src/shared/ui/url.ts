import { computed, reactive, ref, watch, type ComputedRef, type Ref } from 'vue'
import { useRoute, useRouter, type LocationQuery } from 'vue-router'

/** The values of a page that an address may keep. Lists are written with commas. */
type Value = string | number | boolean | string[]
type State = Record<string, Value>

/** The part of the address that names the page of a list. */
const CURSOR = 'cursor'
/** Changes of one text closer than this are somebody who types. */
const TYPING_MS = 1_000

function read(text: string, like: Value): Value {
  if (Array.isArray(like)) return text === '' ? [] : text.split(',')
  if (typeof like === 'number') return Number.isFinite(Number(text)) ? Number(text) : like
  if (typeof like === 'boolean') return text === 'true'
  return text
}

function write(value: Value): string {
  return Array.isArray(value) ? value.join(',') : String(value)
}

function one(query: LocationQuery, name: string): string | undefined {
  const found = query[name]
  return (Array.isArray(found) ? found[0] : found) ?? undefined
}

/**
 * State of a page that stands in its address: filters, tabs, pages. A value equal to the
 * default is left out. Writing to it goes to the address; going back comes here. A text that
 * somebody types makes one step of the history, not one a letter. While `quiet` is set, a change makes no step at all;
 * it is unset then.
 */
export function useUrlState<S extends State>(defaults: S, quiet: Ref<boolean> = ref(false)): S {
  const route = useRoute()
  const router = useRouter()
  const here = route.path
  const state = reactive({ ...defaults }) as S

  const fromAddress = (query: LocationQuery) => {
    for (const name of Object.keys(defaults) as (keyof S & string)[]) {
      const text = one(query, name)
      const next = (text === undefined ? defaults[name] : read(text, defaults[name] as Value)) as S[typeof name]
      if (write(next as Value) !== write(state[name] as Value)) state[name] = next
    }
  }
  fromAddress(route.query)
  watch(() => route.query, (query) => {
    if (route.path === here) fromAddress(query)
  })

  let typed = { name: '', at: 0 }
  watch(() => JSON.stringify(state), () => {
    if (route.path !== here) return
    const query: LocationQuery = { ...route.query }
    for (const name of Object.keys(defaults)) {
      const value = write(state[name] as Value)
      if (value === write(defaults[name] as Value)) delete query[name]
      else query[name] = value
    }
    if (JSON.stringify(query) === JSON.stringify(route.query)) return
    // A filter takes its page with it.
    const changes = Object.keys(query).concat(Object.keys(route.query)).filter((name) => name !== CURSOR && query[name] !== route.query[name])
    const name = new Set(changes).size === 1 && typeof defaults[changes[0] ?? ''] === 'string' ? changes[0] ?? '' : ''
    const typing = name !== '' && name === typed.name && Date.now() - typed.at < TYPING_MS
    const replaces = typing || quiet.value
    // A user goes on typing while a search looks further.
    if (!quiet.value) typed = { name, at: Date.now() }
    quiet.value = false
    void (replaces ? router.replace({ query }) : router.push({ query }))
  })
  return state
}

/** A list with filters and pages in its address. */
export interface List<F extends State> {
  filters: F
  cursor: Ref<string>
  /** Whether any filter is set. */
  filtered: ComputedRef<boolean>
  /** Whether a page before this one is known. */
  hasPrevious: ComputedRef<boolean>
  next: (cursor: string) => void
  /** Looks further where a page is empty: the page after it takes its place. */
  goOn: (cursor: string) => void
  previous: () => void
  first: () => void
  clear: () => void
}

/** Makes the state of a list. Another filter leads to the first page. */
export function useList<F extends State>(defaults: F): List<F> {
  const quiet = ref(false)
  const state = useUrlState<F & { cursor: string }>({ ...defaults, cursor: '' }, quiet)
  const names = Object.keys(defaults)
  const before = ref<string[]>([])
  const filtersNow = computed(() => JSON.stringify(names.map((name) => state[name])))
  const fallback = JSON.stringify(names.map((name) => defaults[name]))

  const cursor = computed({
    get: () => state.cursor as string,
    set: (next) => ((state as { cursor: string }).cursor = next),
  })
  // Synchronous, so that the filter and its first page are one step of the history.
  watch(filtersNow, () => {
    before.value = []
    cursor.value = ''
  }, { flush: 'sync' })

  return {
    filters: state as unknown as F,
    cursor,
    filtered: computed(() => filtersNow.value !== fallback),
    hasPrevious: computed(() => cursor.value !== ''),
    next: (to) => {
      before.value.push(cursor.value)
      cursor.value = to
    },
    goOn: (to) => {
      quiet.value = true
      cursor.value = to
    },
    // After a reload the pages before are not known: back to the first.
    previous: () => (cursor.value = before.value.pop() ?? ''),
    first: () => {
      before.value = []
      cursor.value = ''
    },
    clear: () => Object.assign(state, defaults),
  }
}
