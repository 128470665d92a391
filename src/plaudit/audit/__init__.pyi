from .audit import audit_reward as audit_reward
from .findings import Attacker as Attacker
from .findings import AttackFinding as AttackFinding
from .findings import AuditReport as AuditReport
from .findings import Level as Level
from .findings import Witness as Witness
from .subject import Budget as Budget
