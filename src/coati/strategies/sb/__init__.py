"""SB-CLASSIFIER, SB-ORACLE and TP-OFF: groups of similar tag paths (EDBT 2026)."""
