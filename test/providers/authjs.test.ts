/** The presets beside those of @auth/core: the same profile becomes the same user, except where `differences` says why not. */
import { describe, expect, it } from 'vitest'
import { accessToken, differences } from './_expected.ts'
import { facts } from './_facts.ts'
import { profileIn, samples } from './_samples.ts'

type Preset = (options: object) => { profile?: (profile: object, tokens: object) => unknown }

// Their modules make a request of their own while mapping.
const asking = ['azure-ad', 'microsoft-entra-id']
const ids = facts.filter(({ id, added, profile }) => !added && !asking.includes(id) && profile.map['id'] !== undefined).map(({ id }) => id)

describe('row 209: users', () => {
  it.each(ids)('%s', async (id) => {
    const sample = samples[id]!
    const module = id === 'hydra' ? 'ory-hydra' : id
    const theirs = ((await import(`@auth/core/providers/${module}`)) as { default: Preset }).default({ ...sample.options })
    const ours = ((await import(`../../plugins/providers/${id}.ts`)) as { default: Preset }).default({ ...sample.options })
    // Neither side maps: both cores have the same default.
    if (!theirs.profile && !ours.profile) return
    const tokens = { access_token: accessToken, ...sample.tokens }
    const profile = profileIn(structuredClone(sample.full), sample)
    const folded = id === 'vk' ? { ...profile, email: tokens['email' as never] } : profile
    if (!theirs.profile) return expect(differences, id).toHaveProperty(id)
    const expected = (await theirs.profile(folded, tokens)) as Record<string, unknown>
    const made = (await ours.profile!(profile, tokens)) as Record<string, unknown>
    if (id in differences && differences[id]?.user)
      expect(Object.keys(made)).toEqual(expect.arrayContaining(Object.keys(expected).filter((key) => expected[key] !== undefined)))
    // Account ids that are numbers there are texts here, as the type says.
    else expect({ ...made, id: String(made['id']) }).toEqual({ ...expected, id: String(expected['id']) })
  })
})
