/** Which versions the documentation site has, and where each of them is. */
import { describe, expect, it } from 'vitest'
import { versionsOf } from '../site/versions.ts'

describe('versions', () => {
  it('without a release there is one, at the root', () => {
    expect(versionsOf([], '0.1.0')).toEqual([{ name: '0.1.0 (next)', folder: '' }])
  })

  it('the newest release is at the root, and the last patch of each earlier minor has a folder', () => {
    expect(versionsOf(['v0.1.0', 'v0.2.0', 'v0.10.1', 'v0.1.12', 'v0.10.0-beta.1', 'other'], '0.11.0')).toEqual([
      { name: '0.11.0 (next)', folder: 'next/' },
      { name: 'v0.10.1', folder: '', tag: 'v0.10.1' },
      { name: 'v0.2.0', folder: 'v0.2/', tag: 'v0.2.0' },
      { name: 'v0.1.12', folder: 'v0.1/', tag: 'v0.1.12' },
    ])
  })
})
