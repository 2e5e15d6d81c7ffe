"""One budget over many sites: how well do choices among sites spend it?"""
