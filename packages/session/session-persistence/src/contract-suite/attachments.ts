import { sessionId, type AttachmentRef } from '@palimpsest/session'
import { describe, expect, it } from 'vitest'
import type { Bench } from './bench.ts'
import { said } from './samples.ts'

/** The attachments of a session. SPEC 5.1. */
export function describeAttachments(bench: Bench): void {
  const { open, create, stored } = bench

  describe('attachments', () => {
    const bytes = Uint8Array.from({ length: 3_000 }, (_, index) => index % 251)

    it('come back as they were put, and are one where their bytes are', async () => {
      const handle = await create()
      const ref = await bench.store
        .attachments(sessionId('a'))
        .put(bytes, { mediaType: 'image/png', width: 3, name: 'shot.png' })
      expect(ref).toMatchObject({ mediaType: 'image/png', bytes: 3_000, width: 3, name: 'shot.png' })
      expect(ref.attachmentId).toMatch(/^sha256:[0-9a-f]{64}$/)
      expect((await bench.store.attachments(sessionId('a')).put(bytes, { mediaType: 'image/png' })).attachmentId).toBe(
        ref.attachmentId,
      )
      await handle.append([said(0)])
      await handle.close()
      const found = open().attachments(sessionId('a'))
      expect(await found.has(ref)).toBe(true)
      expect(Buffer.from((await found.get(ref)) ?? [])).toEqual(Buffer.from(bytes))
    })

    it('that nobody put are missing', async () => {
      await stored()
      const ref: AttachmentRef = { attachmentId: `sha256:${'0'.repeat(64)}`, mediaType: 'image/png', bytes: 3 }
      expect(await bench.store.attachments(sessionId('a')).has(ref)).toBe(false)
      expect(await bench.store.attachments(sessionId('a')).get(ref)).toBeUndefined()
    })

    it('of a session that does not exist are refused', async () => {
      await expect(
        bench.store.attachments(sessionId('nobody')).put(bytes, { mediaType: 'image/png' }),
      ).rejects.toMatchObject({ code: 'session/not-found' })
    })
  })
}
