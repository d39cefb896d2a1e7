import { describeConversations } from './describe-conversations.ts'

describeConversations(Number(process.env['PALIMPSEST_CONVERSATIONS'] ?? 3))
