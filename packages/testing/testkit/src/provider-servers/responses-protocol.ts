import { openaiErrorAnswer, openaiFailure } from './openai-error.ts'
import { openaiResponsesRules } from './openai-responses-rules.ts'
import { idMaker, type Protocol, type ProtocolSettings } from './protocol.ts'
import { ResponsesMemory } from './responses-memory.ts'
import { refusedStream, responsesAnswer } from './responses-stream.ts'
import { responsesView } from './responses-view.ts'
import { firstFault } from './rule.ts'

/** OpenAI Responses: `POST /v1/responses`. */
export function responsesProtocol(settings: ProtocolSettings): Protocol {
  const memory = new ResponsesMemory(settings.organisation)
  const newId = idMaker(settings.random)
  return {
    basePath: '/v1',
    paths: ['/v1/responses'],
    judge: (request) => {
      const view = responsesView(request, settings, memory)
      return (
        firstFault(openaiResponsesRules, view, settings) ?? {
          dropped: [],
          answer: (reply, n) => responsesAnswer(view, reply, n, newId),
        }
      )
    },
    refusal: (fault, request) => {
      const id = newId('req_')
      return fault.status === 200 ? refusedStream(fault, request, newId) : openaiErrorAnswer(fault, id, 'openai')
    },
    failure: (failure, request) => openaiFailure(failure, request, newId('req_'), 'openai'),
  }
}
