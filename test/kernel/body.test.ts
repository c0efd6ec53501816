/** Bodies within their limit (D20, rows 8 and 9). */
import { describe, expect, it } from 'vitest'
import { createBodyReader } from '../../src/http/body.ts'

const readBody = (request: Request, limit: number) => createBodyReader(request, limit).parsed()

const post = (body: BodyInit | null, type?: string, headers: Record<string, string> = {}) =>
  new Request('http://localhost/', {
    method: 'POST',
    body,
    headers: { ...(type !== undefined && { 'content-type': type }), ...headers },
    duplex: 'half',
  } as RequestInit)
const json = 'application/json'
const form = 'application/x-www-form-urlencoded'

describe('readBody', () => {
  it('row 8: a form: the last value of a name counts, repeated ones can be seen', async () => {
    const { fields, form: all } = await readBody(post('a=1&b=x%20y+z&a=2&%C3%A4=%C3%B6', form), 1000)
    expect(fields).toEqual({ a: '2', b: 'x y z', ä: 'ö' })
    expect(all.getAll('a')).toEqual(['1', '2'])
  })

  it('row 8: JSON: objects only; texts also as form fields', async () => {
    const { fields, form: all } = await readBody(post('{"a":"1","b":2,"c":{"d":[1]}}', `${json}; charset=utf-8`), 1000)
    expect(fields).toEqual({ a: '1', b: 2, c: { d: [1] } })
    expect([...all]).toEqual([['a', '1']])
    for (const body of ['[1]', '"x"', '1', 'null', 'true']) expect((await readBody(post(body, json), 1000)).fields).toEqual({})
  })

  it.each(['text/plain', 'multipart/form-data; boundary=x', 'application/octet-stream', ''])('row 8: %j is no body', async (type) => {
    expect((await readBody(post('a=1', type), 1000)).fields).toEqual({})
  })

  it('the case of the content type does not matter', async () => {
    expect((await readBody(post('a=1', 'Application/X-WWW-Form-Urlencoded'), 1000)).fields).toEqual({ a: '1' })
  })

  it.each(['{', '', 'undefined', '{"a":1', '\u0000', '{a:1}', "{'a':1}"])('row 9: %j is 400', async (body) => {
    await expect(readBody(post(body, json), 1000)).rejects.toMatchObject({ status: 400, message: 'Bad request.' })
  })

  it('row 9: invalid UTF-8 is not a crash', async () => {
    expect((await readBody(post(new Uint8Array([0x61, 0x3d, 0xff, 0xfe]), form), 1000)).fields).toHaveProperty('a')
  })

  it('D20: the limit is bytes, said in the header or met on the way', async () => {
    await expect(readBody(post('a=1234567', form), 8)).rejects.toMatchObject({ status: 413 })
    expect((await readBody(post('a=123456', form), 8)).fields).toEqual({ a: '123456' })
    await expect(readBody(post('a=äää', form), 7)).rejects.toMatchObject({ status: 413 })
    await expect(readBody(post('a=1', form, { 'content-length': '999' }), 8)).rejects.toMatchObject({ status: 413 })
    let pulled = 0
    const endless = new ReadableStream({ pull: (controller) => (pulled++, controller.enqueue(new Uint8Array(64))) })
    await expect(readBody(post(endless, form), 1000)).rejects.toMatchObject({ status: 413 })
    expect(pulled).toBeLessThan(30)
  })

  it('a body that breaks off, or was read before, is 400', async () => {
    const broken = new ReadableStream({
      start: (controller) => controller.enqueue(new TextEncoder().encode('a=1')),
      pull: (controller) => controller.error(new Error('reset')),
    })
    await expect(readBody(post(broken, form), 1000)).rejects.toMatchObject({ status: 400 })
    const read = post('a=1', form)
    await read.text()
    await expect(readBody(read, 1000)).rejects.toMatchObject({ status: 400 })
  })

  it('prototypes cannot be reached', async () => {
    const nested = await readBody(
      post('{"__proto__":{"polluted":1},"a":{"__proto__":{"polluted":1},"constructor":{"prototype":{"polluted":1}}}}', json),
      1000,
    )
    expect(Object.getPrototypeOf(nested.fields)).toBe(Object.prototype)
    expect(Object.hasOwn(nested.fields, '__proto__')).toBe(false)
    expect(Object.hasOwn(nested.fields['a'] as object, '__proto__')).toBe(false)
    const flat = await readBody(post('__proto__=x&a=1', form), 1000)
    expect(flat.fields).toEqual({ a: '1' })
    expect(({} as Record<string, unknown>)['polluted']).toBeUndefined()
  })
})
