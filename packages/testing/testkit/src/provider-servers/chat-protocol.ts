import { chatAnswer } from './chat-stream.ts'
import { chatView } from './chat-view.ts'
import { deepseekRules } from './deepseek-rules.ts'
import { compatibleRules, openaiChatRules } from './openai-chat-rules.ts'
import { openaiErrorAnswer, openaiFailure, type OpenAIDialect } from './openai-error.ts'
import { idMaker, type Protocol, type ProtocolSettings } from './protocol.ts'
import { firstFault } from './rule.ts'

const tables = { openai: openaiChatRules, compatible: compatibleRules, deepseek: deepseekRules }

/** Chat completions of OpenAI, of DeepSeek and of those that are compatible. */
export function chatProtocol(dialect: OpenAIDialect, settings: ProtocolSettings): Protocol {
  const newId = idMaker(settings.random)
  const isDeepSeek = dialect === 'deepseek'
  return {
    basePath: isDeepSeek ? '' : '/v1',
    paths: isDeepSeek ? ['/chat/completions', '/beta/chat/completions'] : ['/v1/chat/completions'],
    judge: (request) => {
      const view = chatView(request, settings)
      return (
        firstFault(tables[dialect], view, settings) ?? {
          dropped: [],
          answer: (reply, n) => chatAnswer(view, dialect, reply, n, newId),
        }
      )
    },
    refusal: (fault) => openaiErrorAnswer(fault, newId('req_'), dialect),
    failure: (failure, request) => openaiFailure(failure, request, newId('req_'), dialect),
  }
}
