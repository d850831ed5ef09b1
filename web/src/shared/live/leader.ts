// One tab of a browser holds the stream for all: a browser allows few connections to one
// server. Tabs talk by a BroadcastChannel. The leader says so every two seconds; a tab that
// hears none for a while takes over. Of two leaders the one that is seen stays, then the one
// with the lesser id.

/** The messages between tabs. */
export type Word =
  | { kind: 'lead'; from: string; seen: boolean; open: boolean }
  | { kind: 'want'; from: string; topics: string[] }
  | { kind: 'bye'; from: string }
  | { kind: 'event'; from: string; topics: string[] }

/** How tabs hear each other; BroadcastChannel, or its double in a test. */
interface Channel {
  post(word: Word): void
  listen(hear: (word: Word) => void): void
}

export const BEAT_MS = 2_000
const SILENCE_MS = 5_000
const WANT_LIVES_MS = 90_000

interface Hooks {
  /** Tells that this tab leads or no longer does. */
  leads(leading: boolean): void
  /** Tells what all tabs together want to hear of; to the leader alone. */
  wants(topics: string[]): void
  /** Tells what changed, as the leader heard. */
  event(topics: string[]): void
  /** Tells whether the stream of the leader is open. */
  open(open: boolean): void
  seen(): boolean
  now(): number
}

/** Election is the part of one tab. Call beat every BEAT_MS. */
export class Election {
  leading = false
  private mine: string[] = []
  private heard: number
  private streamOpen = false
  private readonly others = new Map<string, { topics: string[]; at: number }>()

  constructor(private readonly id: string, private readonly channel: Channel, private readonly hooks: Hooks) {
    // A newcomer listens for one beat before it takes over.
    this.heard = hooks.now() - SILENCE_MS + 300
    channel.listen((word) => this.hear(word))
  }

  /** Sets what this tab wants to hear of. */
  want(topics: string[]): void {
    this.mine = topics
    this.channel.post({ kind: 'want', from: this.id, topics })
    if (this.leading) this.tellWants()
  }

  /** Says what the leader's stream told. */
  told(topics: string[]): void {
    this.channel.post({ kind: 'event', from: this.id, topics })
    this.hooks.event(topics)
  }

  /** Says whether the leader's stream is open. */
  opened(open: boolean): void {
    this.streamOpen = open
    this.hooks.open(open)
    this.say()
  }

  beat(): void {
    if (this.leading) {
      this.say()
      this.tellWants()
    } else if (this.hooks.now() - this.heard > SILENCE_MS) {
      this.become(true)
    } else {
      this.channel.post({ kind: 'want', from: this.id, topics: this.mine })
    }
  }

  leave(): void {
    if (this.leading) this.become(false)
    this.channel.post({ kind: 'bye', from: this.id })
  }

  private hear(word: Word): void {
    switch (word.kind) {
      case 'lead':
        this.heard = this.hooks.now()
        if (!this.leading) this.hooks.open(word.open)
        else if (this.yieldsTo(word)) this.become(false)
        else this.say()
        break
      case 'want':
        this.others.set(word.from, { topics: word.topics, at: this.hooks.now() })
        if (this.leading) {
          this.say()
          this.tellWants()
        }
        break
      case 'bye':
        this.others.delete(word.from)
        // The next beat takes over, unless another tab was faster.
        if (!this.leading) this.heard = Math.min(this.heard, this.hooks.now() - SILENCE_MS + Math.random() * 1_000)
        break
      case 'event':
        this.hooks.event(word.topics)
    }
  }

  private yieldsTo(word: { from: string; seen: boolean }): boolean {
    const seen = this.hooks.seen()
    return seen === word.seen ? word.from < this.id : word.seen
  }

  private become(leading: boolean): void {
    this.leading = leading
    this.streamOpen = false
    this.hooks.leads(leading)
    if (!leading) return
    this.say()
    this.tellWants()
  }

  private say(): void {
    if (this.leading) this.channel.post({ kind: 'lead', from: this.id, seen: this.hooks.seen(), open: this.streamOpen })
  }

  private tellWants(): void {
    const all = new Set(this.mine)
    for (const [id, { topics, at }] of this.others) {
      if (this.hooks.now() - at > WANT_LIVES_MS) this.others.delete(id)
      else for (const topic of topics) all.add(topic)
    }
    this.hooks.wants([...all].sort())
  }
}
