import type { Component } from 'vue'
import type { RouteRecordRaw } from 'vue-router'
import type { Permission } from '@/shared/api/types'

/** A feature of the console: features/NAME/routes.ts exports one as its default. */
export interface Feature {
  name: string
  routes: readonly Route[]
  /** Its place in the rail; a feature may have none. */
  nav?: readonly NavItem[]
  /** The offers of the palette beside pages and jobs. */
  actions?: readonly Action[]
}

/** A route says who may see it, and its title. */
export type Route = RouteRecordRaw & { name: string; meta: RouteMeta }

interface RouteMeta {
  /** The permission for the page; `public` is for everybody, `self` for all who are signed in. */
  permission: Permission
  /** The key of the title, which is that of the window, too. */
  title: string
  /** Whether the page stands alone, without rail and bar. */
  bare?: boolean
}

declare module 'vue-router' {
  interface RouteMeta {
    permission?: Permission
    title?: string
    bare?: boolean
  }
}

export interface NavItem {
  /** The name of its first page. */
  route: string
  /** The key of the word in the rail. */
  title: string
  icon: Component
  /** Behind the word: how much waits there for the user. */
  badge?: Component
  section: 'work' | 'observe' | 'manage'
  /** Its place within the section. */
  order: number
  /** The letter of `g LETTER` that leads there. */
  key?: string
  /** The permission to be led there, where fewer are led than may see the page. */
  permission?: Permission
}

export interface Action {
  name: string
  /** The key of the words in the palette. */
  title: string
  permission: Permission
  /** Where it leads; what it does stands on that page. */
  to: string
}
