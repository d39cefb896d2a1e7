import { readdirSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { AttachmentRef } from '@palimpsest/session'
import type { AttachmentStore } from '@palimpsest/session-persistence'
import { describe, expect, it } from 'vitest'
import { jsonlPersistence } from '../src/index.ts'
import { headerOf, id, scratch } from './support.ts'

const bytes = Buffer.from('a screenshot')

async function stored(): Promise<{ attachments: AttachmentStore; ref: AttachmentRef; path: string }> {
  const root = scratch()
  const store = jsonlPersistence({ root })
  const handle = await store.create(headerOf())
  await handle.flush()
  await handle.close()
  const attachments = store.attachments(id)
  const ref = await attachments.put(bytes, { mediaType: 'image/png' })
  const digest = ref.attachmentId.slice('sha256:'.length)
  return { attachments, ref, path: join(root, '_', 'a', 'attachments', 'sha256', digest.slice(0, 2), digest) }
}

describe('an attachment', () => {
  it.each([
    ['wrong length', 'a screen'],
    ['wrong digest', 'a screensh0t'],
  ])('whose file is of %s is missing, and putting it again replaces the file', async (_, content) => {
    const { attachments, ref, path } = await stored()
    writeFileSync(path, content)
    expect(await attachments.get(ref)).toBeUndefined()
    await attachments.put(bytes, { mediaType: 'image/png' })
    expect(await attachments.get(ref)).toEqual(bytes)
    expect(readdirSync(join(path, '..'))).toHaveLength(1)
  })

  it('whose file is gone is missing', async () => {
    const { attachments, ref, path } = await stored()
    rmSync(path)
    expect([await attachments.has(ref), await attachments.get(ref)]).toEqual([false, undefined])
  })

  it('that is there is not written again', async () => {
    const { attachments, path } = await stored()
    const { ino } = statSync(path)
    await attachments.put(bytes, { mediaType: 'image/png' })
    expect(statSync(path).ino).toBe(ino)
  })

  it('needs a media type and an id that is a digest', async () => {
    const { attachments, ref } = await stored()
    await expect(attachments.put(bytes, { mediaType: '' })).rejects.toMatchObject({ code: 'attachment/invalid' })
    for (const attachmentId of ['sha256:../../x', 'md5:00', `sha256:${'A'.repeat(64)}`]) {
      await expect(attachments.get({ ...ref, attachmentId })).rejects.toMatchObject({ code: 'attachment/invalid' })
    }
  })

  it('whose reference gives another length is missing', async () => {
    const { attachments, ref } = await stored()
    expect(await attachments.get({ ...ref, bytes: 3 })).toBeUndefined()
    expect(await attachments.has({ ...ref, bytes: 3 })).toBe(false)
  })
})
