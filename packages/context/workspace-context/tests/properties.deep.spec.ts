import './budget.spec.ts'
import './frame.spec.ts'
import './session.property.spec.ts'
