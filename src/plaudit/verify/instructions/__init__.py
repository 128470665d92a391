"""Verifiers of instructions that code can check: IFEval, IFBench and the training set of IFBench."""
