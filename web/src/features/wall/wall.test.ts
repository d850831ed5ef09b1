import { describe, expect, it } from 'vitest'
import { hasToken, headersOfWall, keepToken, takeToken, takeTokenOfPage, tokenTurn } from './token'

describe('the token of a wall', () => {
  it('comes from the fragment, and stays in this tab', () => {
    expect(takeToken('#other=1')).toBe(false)
    expect(takeToken('')).toBe(false)
    expect(hasToken.value).toBe(false)
    expect(headersOfWall()).toEqual({})

    const before = tokenTurn.value
    expect(takeToken('#token=ps_abc')).toBe(true)
    expect(headersOfWall()).toEqual({ Authorization: 'Bearer ps_abc' })
    expect(sessionStorage.getItem('platform-scheduler.wall.token')).toBe('ps_abc')
    expect(localStorage.length === 0 || !JSON.stringify({ ...localStorage }).includes('ps_abc')).toBe(true)
    expect(tokenTurn.value).toBe(before + 1)

    keepToken('')
    expect(hasToken.value).toBe(false)
    expect(sessionStorage.getItem('platform-scheduler.wall.token')).toBeNull()
  })

  it('is taken out of the address of the wall alone', () => {
    history.replaceState(null, '', '/jobs?x=1#token=ps_abc')
    takeTokenOfPage('/wall')
    expect(hasToken.value).toBe(false)
    history.replaceState(null, '', '/wall?x=1#token=ps_abc')
    takeTokenOfPage('/wall')
    expect(location.href).toMatch(/\/wall\?x=1$/)
    expect(headersOfWall()).toEqual({ Authorization: 'Bearer ps_abc' })
    keepToken('')
  })
})
