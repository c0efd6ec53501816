/** What a failed flow leaves in the browser: its own entry is gone, those of other tabs stay (D12, D47). */
import { describe, expect, it } from 'vitest'
import { CookieJar } from '../../src/http/cookies.ts'

const lines = (jar: CookieJar): string[] => {
  const headers = new Headers()
  jar.write(headers)
  return headers.getSetCookie()
}

describe('a failed flow', () => {
  it('drops values, keeps deletions, and keeps what is always to be written', () => {
    const jar = new CookieJar('state=old; pkce=old')
    jar.set('session', 'new')
    jar.set('state', 'the other tabs', {}, 'always')
    jar.delete('pkce')
    jar.dropValues()
    expect(lines(jar)).toEqual(['state=the%20other%20tabs', 'pkce=; Max-Age=0'])
  })

  it('a later value without `always` is an ordinary one again', () => {
    const jar = new CookieJar(null)
    jar.set('state', 'a', {}, 'always')
    jar.set('state', 'b')
    jar.dropValues()
    expect(lines(jar)).toEqual([])
  })
})
